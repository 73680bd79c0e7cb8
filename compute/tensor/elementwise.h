#pragma once
// The work behind the makers, copies and sums, on a range of elements, so that a job can report
// progress and stop between ranges.
#include <cstdint>
#include <string_view>

#include "compute/tensor/tensor.h"
#include "compute/types/command.h"

namespace lab {

struct FillWith {
  Fill fill = Fill::Zeros;
  double value = 0;        // for Full
  std::uint64_t seed = 0;  // for Rand and Randn
};

// Throws Error(InvalidArgument) when `with` makes no sense for the dtype: random integers, a value
// past its range.
void check_fill(const FillWith& with, DType dtype);

// Elements [begin, end) of x, by all threads of its device; the values depend on the index alone.
void fill_range(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end);

// Elements [begin, end) of `to` become those of `from`; shape and dtype are the same.
void copy_range(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end);

// Throws Error(DeviceMismatch) naming both devices, Error(InvalidArgument) naming both shapes or
// dtypes. `operation` and `left`, `right` are the names in the message.
void check_same(std::string_view operation, const Tensor& x, const Tensor& y,
                std::string_view left = "X", std::string_view right = "Y");

// Elements [begin, end) of z become x + y; all three passed check_same.
void add_range(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end);

}  // namespace lab
