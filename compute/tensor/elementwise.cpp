#include "compute/tensor/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/tensor/gpu_tensor_ops.h"
#include "compute/tensor/random.h"

namespace lab {
namespace {

// The smallest number of elements worth waking a thread for.
constexpr std::int64_t kGrain = 1 << 14;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

template <typename T>
T convert(double value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return to_bf16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
T sum(T x, T y) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return to_bf16(to_float(x) + to_float(y));
  } else if constexpr (std::is_integral_v<T>) {
    using Wrapping = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Wrapping>(static_cast<Wrapping>(x) + static_cast<Wrapping>(y)));
  } else {
    return x + y;
  }
}

void fill_random(std::span<float> out, const FillWith& with, std::int64_t first) {
  const RandomStream random{with.seed, 0};
  const auto index = static_cast<std::uint64_t>(first);
  if (with.fill == Fill::Rand) {
    random.fill_uniform(out, index);
  } else {
    random.fill_normal(out, index);
  }
}

void fill_random(std::span<Bf16> out, const FillWith& with, std::int64_t first) {
  std::array<float, 1024> values;
  for (std::size_t begin = 0; begin < out.size(); begin += values.size()) {
    const std::span<float> part(values.data(), std::min(values.size(), out.size() - begin));
    fill_random(part, with, first + static_cast<std::int64_t>(begin));
    std::transform(part.begin(), part.end(), out.begin() + static_cast<std::ptrdiff_t>(begin),
                   to_bf16);
  }
}

template <typename T>
void fill_part(std::span<T> out, const FillWith& with, std::int64_t first) {
  switch (with.fill) {
    case Fill::Zeros: std::fill(out.begin(), out.end(), T{}); return;
    case Fill::Ones: std::fill(out.begin(), out.end(), convert<T>(1)); return;
    case Fill::Full: std::fill(out.begin(), out.end(), convert<T>(with.value)); return;
    case Fill::Arange:
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t value = first + static_cast<std::int64_t>(i);
        if constexpr (std::is_integral_v<T>) {
          out[i] = static_cast<T>(value);
        } else {
          out[i] = convert<T>(static_cast<double>(value));
        }
      }
      return;
    case Fill::Rand:
    case Fill::Randn:
      if constexpr (!std::is_integral_v<T>) fill_random(out, with, first);
      return;
    case Fill::Values:
      std::transform(with.values.begin() + first,
                     with.values.begin() + first + static_cast<std::ptrdiff_t>(out.size()),
                     out.begin(), [](double value) { return convert<T>(value); });
  }
}

template <typename T>
bool in_range(double value) {
  if constexpr (std::is_integral_v<T>) {
    // The upper bound is a power of two, so it is exact as a double even for 64-bit types.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double begin = std::is_signed_v<T> ? -end : 0.0;
    return value >= begin && std::trunc(value) < end;
  } else {
    // Only finite values can be out of range: these types represent infinities and NaN.
    const float largest =
        std::is_same_v<T, Bf16> ? to_float({0x7f7f}) : std::numeric_limits<float>::max();
    return !std::isfinite(value) || std::abs(value) <= double{largest};
  }
}

}  // namespace

void check_fill(const FillWith& with, DType dtype) {
  if (is_random(with.fill) && dtype != DType::F32 && dtype != DType::BF16) {
    throw Error(Errc::InvalidArgument,
                trf("{}: dtype is {} but random values are floating-point; choose f32 or "
                    "bf16",
                    to_string(with.fill), to_string(dtype)));
  }
  if (with.fill != Fill::Full && with.fill != Fill::Values) return;
  const char* const name = with.fill == Fill::Full ? "full" : "tensor";
  const std::span<const double> values =
      with.fill == Fill::Full ? std::span(&with.value, 1) : with.values;
  with_type(dtype, [&]<typename T>(T*) {
    const auto wrong = std::find_if_not(values.begin(), values.end(), in_range<T>);
    if (wrong == values.end()) return;
    throw Error(Errc::InvalidArgument,
                trf("{}: {} does not fit in {}; choose a value in its range or another "
                    "dtype",
                    name, printable(*wrong), to_string(dtype)));
  });
  constexpr double kExact = 9007199254740992;  // 2^53
  const auto inexact = std::find_if(with.values.begin(), with.values.end(),
                                    [](double v) { return std::abs(v) > kExact; });
  if (dtype == DType::I64 && inexact != with.values.end()) {
    throw Error(Errc::InvalidArgument,
                trf("{}: {} is beyond 2^53, where typed integers are not exact; choose "
                    "smaller values",
                    name, printable(*inexact)));
  }
}

std::uint64_t element_bits(double value, DType dtype) {
  std::uint64_t bits = 0;
  with_type(dtype, [&]<typename T>(T*) {
    const T element = convert<T>(value);
    std::memcpy(&bits, &element, sizeof element);
  });
  return bits;
}

void fill_range(Tensor& x, const FillWith& with, std::int64_t begin, std::int64_t end) {
  if (with.fill == Fill::Values && std::ssize(with.values) != x.size()) {
    throw Error(Errc::InvalidArgument,
                trf("tensor: shape {} holds {} values but {} were given; give one per "
                    "element",
                    to_string(x.shape()), x.size(), with.values.size()));
  }
  if (x.context().gpu() != nullptr) return gpu_ops::fill(x, with, begin, end);
  with_type(x.dtype(), [&]<typename T>(T*) {
    const std::span<T> out = x.values<T>();
    x.context().threads().parallel_for(end - begin, kGrain, [&](std::int64_t b, std::int64_t e) {
      fill_part(out.subspan(at(begin + b), at(e - b)), with, begin + b);
    });
  });
}

void copy_to_host(const Tensor& x, void* to, std::int64_t count, std::int64_t first) {
  const std::int64_t bytes = count * size_of(x.dtype());
  const std::byte* const from = x.data() + first * size_of(x.dtype());
  if (x.context().gpu() != nullptr) {
    gpu_ops::copy_to_host(x.context(), from, static_cast<std::byte*>(to), bytes);
  } else if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

void copy_from_host(const void* from, Tensor& x) {
  if (x.context().gpu() != nullptr) {
    gpu_ops::copy_from_host(static_cast<const std::byte*>(from), x, x.bytes());
  } else if (x.bytes() > 0) {
    std::memcpy(x.data(), from, static_cast<std::size_t>(x.bytes()));
  }
}

void copy_range(const Tensor& from, Tensor& to, std::int64_t begin, std::int64_t end) {
  if (from.context().gpu() != nullptr || to.context().gpu() != nullptr) {
    return gpu_ops::copy(from, to, begin, end);
  }
  with_type(from.dtype(), [&]<typename T>(T*) {
    const std::span<const T> in = from.values<T>();
    const std::span<T> out = to.values<T>();
    to.context().threads().parallel_for(end - begin, kGrain, [&](std::int64_t b, std::int64_t e) {
      std::memcpy(&out[at(begin + b)], &in[at(begin + b)], at(e - b) * sizeof(T));
    });
  });
}

void check_same_device(std::string_view operation, const Tensor& x, const Tensor& y,
                       std::string_view left, std::string_view right) {
  if (x.device() == y.device()) return;
  throw Error(
      Errc::DeviceMismatch,
      trf("{}: {} is on {} and {} on {}; copy one first: {}.copy_to({})", operation, left,
          to_string(x.device()), right, to_string(y.device()), left, to_string(y.device())));
}

void check_same(std::string_view operation, const Tensor& x, const Tensor& y, std::string_view left,
                std::string_view right) {
  check_same_device(operation, x, y, left, right);
  if (x.shape() != y.shape()) {
    throw Error(Errc::InvalidArgument,
                trf("{}: {} is {} but {} is {}; the shapes must be equal", operation, left,
                    to_string(x.shape()), right, to_string(y.shape())));
  }
  if (x.dtype() != y.dtype()) {
    throw Error(Errc::InvalidArgument,
                trf("{}: {} is {} but {} is {}; the dtypes must be equal", operation, left,
                    to_string(x.dtype()), right, to_string(y.dtype())));
  }
}

void add_range(const Tensor& x, const Tensor& y, Tensor& z, std::int64_t begin, std::int64_t end) {
  if (z.context().gpu() != nullptr) return gpu_ops::add(x, y, z, begin, end);
  with_type(x.dtype(), [&]<typename T>(T*) {
    const T* a = x.values<T>().data();
    const T* b = y.values<T>().data();
    T* out = z.values<T>().data();
    z.context().threads().parallel_for(end - begin, kGrain,
                                       [&](std::int64_t from, std::int64_t to) {
                                         for (std::int64_t i = begin + from; i < begin + to; ++i)
                                           out[i] = sum(a[i], b[i]);
                                       });
  });
}

}  // namespace lab
