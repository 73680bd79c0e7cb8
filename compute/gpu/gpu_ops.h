#pragma once
// What a GPU is asked to compute. Pointers are addresses on the GPU.
#include <cstddef>
#include <cstdint>

#include "compute/core/dtype.h"

namespace lab {

enum class GpuFillKind {
  Constant,  // `bits` in every element
  Arange,    // the element's index, as the CPU converts it
  Uniform,   // RandomStream{seed, 0}.uniform at the element's index; f32 and bf16
  Normal,    // the same of .normal
};

// to[i] becomes the value of element first + i, i in [0, count); the same bits as on the CPU.
struct GpuFill {
  GpuFillKind kind = GpuFillKind::Constant;
  DType dtype = DType::F32;
  std::uint64_t bits = 0;  // of one element, in the low bytes
  std::uint64_t seed = 0;
  std::int64_t first = 0;
  std::byte* to = nullptr;
  std::int64_t count = 0;
};

// z = x + y; floating-point sums are rounded once, integers wrap. z may be x or y.
struct GpuSum {
  DType dtype = DType::F32;
  const std::byte* x = nullptr;
  const std::byte* y = nullptr;
  std::byte* z = nullptr;
  std::int64_t count = 0;
};

// The square root of the sum of squares, summed in double.
struct GpuNorm {
  DType dtype = DType::F32;
  const std::byte* x = nullptr;
  std::int64_t count = 0;  // at least 1
};

}  // namespace lab
