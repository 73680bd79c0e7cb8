#pragma once
// The work behind the makers, copies and sums, on a range of elements, so that a job can report
// progress and stop between ranges.
#include <cstdint>
#include <string_view>

#include "compute/core/events/command.h"
#include "compute/tensor/tensor.h"

namespace lab {

struct FillWith {
  Fill fill = Fill::Zeros;
  double value = 0;        // for Full
  std::uint64_t seed = 0;  // for Rand and Randn
};

// Throws Error(InvalidArgument) when `with` makes no sense for the dtype: random integers, a value
// past its range.
void check_fill(const FillWith& with, DType dtype);

// One element of that value in memory, in the low bytes; check_fill has passed.
std::uint64_t element_bits(double value, DType dtype);

// Elements [begin, end) of x, by all threads of its device; the values depend on the index alone.
void fill_range(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end);

// The `count` first elements of x, as they are in memory, to ordinary memory; all elements of x
// from ordinary memory. Return when all has arrived.
void copy_to_host(const Tensor& x, void* to, std::int64_t count);
void copy_from_host(const void* from, Tensor& x);

// Elements [begin, end) of `to` become those of `from`; shape and dtype are the same. Returns when
// all has arrived, on whatever devices.
void copy_range(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end);

// Throws Error(DeviceMismatch) naming both devices. `operation` and `left`, `right` are the names
// in the message.
void check_same_device(std::string_view operation, const Tensor& x, const Tensor& y,
                       std::string_view left = "X", std::string_view right = "Y");
// The same, and Error(InvalidArgument) naming both shapes or dtypes.
void check_same(std::string_view operation, const Tensor& x, const Tensor& y,
                std::string_view left = "X", std::string_view right = "Y");

// Elements [begin, end) of z become x + y; all three passed check_same.
void add_range(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end);

}  // namespace lab
