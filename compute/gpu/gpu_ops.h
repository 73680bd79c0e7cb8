#pragma once
// Arguments of a GPU's tensor operations. Pointers are device addresses.
#include <cstddef>
#include <cstdint>

#include "compute/core/dtype.h"

namespace lab {

enum class GpuFillKind {
  Constant,  // every element is `bits`
  Arange,    // the element's index, converted as on the CPU
  Uniform,   // RandomStream{seed, 0}.uniform at the element's index; f32 and bf16
  Normal,    // RandomStream{seed, 0}.normal at the element's index; f32 and bf16
};

// to[i] = value of element first + i, i in [0, count); bit-identical to the CPU.
struct GpuFill {
  GpuFillKind kind = GpuFillKind::Constant;
  DType dtype = DType::F32;
  std::uint64_t bits = 0;  // one element, in the low bytes
  std::uint64_t seed = 0;
  std::int64_t first = 0;
  std::byte* to = nullptr;
  std::int64_t count = 0;
};

// z = x + y; floating-point sums are rounded once, integers wrap. z may alias x or y.
struct GpuSum {
  DType dtype = DType::F32;
  const std::byte* x = nullptr;
  const std::byte* y = nullptr;
  std::byte* z = nullptr;
  std::int64_t count = 0;
};

// The square root of the sum of squares, accumulated in double.
struct GpuNorm {
  DType dtype = DType::F32;
  const std::byte* x = nullptr;
  std::int64_t count = 0;  // at least 1
};

}  // namespace lab
