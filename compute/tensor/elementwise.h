#pragma once
// Fill, copy and add over a range of elements, so that a job can report progress and stop between
// ranges.
#include <cstdint>
#include <span>
#include <string_view>

#include "compute/core/events/command.h"
#include "compute/tensor/tensor.h"

namespace lab {

// Returns body's result for a null pointer to the dtype's element type.
template <typename Body>
auto with_type(DType dtype, Body body) {
  switch (dtype) {
    case DType::F32: break;
    case DType::BF16: return body(static_cast<Bf16*>(nullptr));
    case DType::I32: return body(static_cast<std::int32_t*>(nullptr));
    case DType::I64: return body(static_cast<std::int64_t*>(nullptr));
    case DType::U8: return body(static_cast<std::uint8_t*>(nullptr));
  }
  return body(static_cast<float*>(nullptr));
}

struct FillWith {
  Fill fill = Fill::Zeros;
  double value = 0;                     // for Fill::Full
  std::uint64_t seed = 0;               // for Fill::Rand and Fill::Randn
  std::span<const double> values = {};  // for Fill::Values: one per element
};

// Throws Error(Errc::InvalidArgument) if `with` is invalid for the dtype: random integers, or a
// value out of range. The number of values is checked by fill_range().
void check_fill(const FillWith& with, DType dtype);

// Returns the memory representation of `value` in `dtype`, in the low bytes. check_fill() must have
// passed.
std::uint64_t element_bits(double value, DType dtype);

// Fills elements [begin, end) of x on all threads of its device. Each value depends only on its
// index.
void fill_range(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end);

// copy_to_host() copies `count` elements of x, from element `first` on, to host memory without
// conversion; copy_from_host() copies all elements of x from host memory. Both return when the copy
// is complete.
void copy_to_host(const Tensor& x, void* to, std::int64_t count, std::int64_t first = 0);
void copy_from_host(const void* from, Tensor& x);

// Copies elements [begin, end) of `from` to `to`, between any two devices. Shape and dtype must be
// equal. Returns when the copy is complete.
void copy_range(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end);

// Throws Error(Errc::DeviceMismatch) naming both devices. The message uses the names `operation`,
// `left` and `right`.
void check_same_device(std::string_view operation, const Tensor& x, const Tensor& y,
                       std::string_view left = "X", std::string_view right = "Y");
// Like check_same_device(); also throws Error(Errc::InvalidArgument) naming both shapes or dtypes.
void check_same(std::string_view operation, const Tensor& x, const Tensor& y,
                std::string_view left = "X", std::string_view right = "Y");

// z = x + y for elements [begin, end). All three tensors must have passed check_same().
void add_range(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end);

}  // namespace lab
