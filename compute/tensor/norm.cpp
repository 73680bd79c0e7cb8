#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "compute/tensor/gpu_tensor_ops.h"

namespace lab {
namespace {

// Elements that one thread sums without looking up.
constexpr std::int64_t kSlice = 1 << 16;
// Sums that are under way at once, so that an addition need not wait for the one before.
constexpr std::int64_t kLanes = 8;

template <typename T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return double{to_float(value)};
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
double sum_of_squares(std::span<const T> x) {
  double sums[kLanes] = {};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = as_double(x[i]);
    sums[i % kLanes] += value * value;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <typename T>
double norm_on_cpu(const Tensor& x) {
  const std::span<const T> values = x.values<T>();
  const std::int64_t n = std::ssize(values);
  const std::int64_t slices = (n + kSlice - 1) / kSlice;
  std::vector<double> sums(static_cast<std::size_t>(slices));
  x.context().threads().parallel_for(slices, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t from = s * kSlice;
      const auto part = values.subspan(static_cast<std::size_t>(from),
                                       static_cast<std::size_t>(std::min(kSlice, n - from)));
      sums[static_cast<std::size_t>(s)] = sum_of_squares(part);
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

}  // namespace

double norm(const Tensor& x) {
  if (x.context().gpu() != nullptr) return gpu_ops::norm(x);
  switch (x.dtype()) {
    case DType::BF16: return norm_on_cpu<Bf16>(x);
    case DType::I32: return norm_on_cpu<std::int32_t>(x);
    case DType::I64: return norm_on_cpu<std::int64_t>(x);
    case DType::U8: return norm_on_cpu<std::uint8_t>(x);
    case DType::F32: break;
  }
  return norm_on_cpu<float>(x);
}

}  // namespace lab
