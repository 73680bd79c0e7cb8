#pragma once
// The element types of tensors in kernels.
#include <cstdint>
#include <type_traits>

#include "compute/core/dtype.h"
#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda {

// Storage type of bf16; arithmetic is in float.
struct Bf16Bits {
  std::uint16_t bits;
};

// Calls body with a null pointer to the dtype's element type.
template <typename Body>
auto with_element(DType dtype, Body body) {
  switch (dtype) {
    case DType::BF16: return body(static_cast<Bf16Bits*>(nullptr));
    case DType::I32: return body(static_cast<std::int32_t*>(nullptr));
    case DType::I64: return body(static_cast<std::int64_t*>(nullptr));
    case DType::U8: return body(static_cast<std::uint8_t*>(nullptr));
    case DType::F32: break;
  }
  return body(static_cast<float*>(nullptr));
}

// The CPU's conversions: floats by way of double, integers wrap.
template <typename T>
LAB_DEVICE T element_of_float(float x) {
  if constexpr (std::is_same_v<T, Bf16Bits>) {
    return {simt::to_bf16(x)};
  } else {
    return x;
  }
}
template <typename T>
LAB_DEVICE T element_of_index(std::int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(i);
  } else {
    return element_of_float<T>(static_cast<float>(static_cast<double>(i)));
  }
}

// Rounded once; integers wrap.
template <typename T>
LAB_DEVICE T sum_of(T x, T y) {
  if constexpr (std::is_same_v<T, Bf16Bits>) {
    return {simt::to_bf16(simt::from_bf16(x.bits) + simt::from_bf16(y.bits))};
  } else if constexpr (std::is_integral_v<T>) {
    using Wrapping = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Wrapping>(static_cast<Wrapping>(x) + static_cast<Wrapping>(y)));
  } else {
    return x + y;
  }
}

template <typename T>
LAB_DEVICE double as_double(T x) {
  if constexpr (std::is_same_v<T, Bf16Bits>) {
    return static_cast<double>(simt::from_bf16(x.bits));
  } else {
    return static_cast<double>(x);
  }
}

}  // namespace lab::cuda
