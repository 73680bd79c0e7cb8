#pragma once
// Elementwise operations and sums of tensors on a GPU.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "compute/gpu/gpu_ops.h"

namespace lab::cuda {

// A one-dimensional grid; empty where a grid cannot have that many blocks.
inline std::optional<dim3> grid_of(std::int64_t blocks) {
  constexpr std::int64_t kMost = 2147483647;
  if (blocks > kMost) return std::nullopt;
  return dim3(static_cast<unsigned>(blocks));
}

// to[i] = value of element first + i, i in [0, count).
// Work     one write of each element; random values cost about 100 integer and 60 float operations
//          for four
// Limits   any count >= 0; random kinds: F32 and BF16; `to` aligned to its element
// Numerics the CPU's bits: +, -, *, / and sqrt only, none fused (compiled with -fmad=false)
// Async    on `stream`
// Errors   the launch's status
// Source   compute/core/random_bits.h
cudaError_t launch_fill(const GpuFill& fill, cudaStream_t stream);

// z = x + y, all [count].
// Work     two reads and one write of each element
// Limits   any count >= 0; pointers aligned to their element; z may be x or y
// Numerics F32 and BF16 rounded once, BF16 added in float; integers wrap
// Async    on `stream`
// Errors   the launch's status
cudaError_t launch_add(const GpuSum& sum, cudaStream_t stream);

// Work memory that launch_sum_of_squares() needs.
std::int64_t norm_scratch_bytes();

// sums[0] = the sum of x[i]^2 over [count]; sums: norm_scratch_bytes() of work memory.
// Work     one read of each element, one fused multiply-add in double
// Limits   any count >= 1; x aligned to its element
// Numerics double throughout; each thread sums at most count / 2^18 + 1 squares one after the
//          other, and 18 levels of pairs follow, so the relative error of the sum is at most
//          gamma_(count / 2^18 + 19), u = 2^-53. The order is fixed: the same bits at each run
// Async    on `stream`
// Errors   the launches' status
// Source   Higham, "Accuracy and Stability of Numerical Algorithms" (2002), ch. 4
cudaError_t launch_sum_of_squares(const GpuNorm& norm, double* sums, cudaStream_t stream);

}  // namespace lab::cuda
