#pragma once
// Launches elementwise operations and sums of tensors on a GPU.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "compute/gpu/gpu_ops.h"

namespace lab::cuda {

// A one-dimensional grid; empty if the number of blocks exceeds a grid's limit.
inline std::optional<dim3> grid_of(std::int64_t blocks) {
  constexpr std::int64_t kMax = 2147483647;
  if (blocks > kMax) return std::nullopt;
  return dim3(static_cast<unsigned>(blocks));
}

// to[i] = value of element first + i, i in [0, count).
// Work     one write per element; four random values cost about 100 integer and 60 float operations
// Limits   any count >= 0; random kinds: F32 and BF16; `to` aligned to its element
// Numerics bit-identical to the CPU: +, -, *, / and sqrt only, none fused (compiled with
//          -fmad=false)
// Async    on `stream`
// Errors   the launch's status
// Source   compute/core/random_bits.h
cudaError_t launch_fill(const GpuFill& fill, cudaStream_t stream);

// z = x + y, all [count].
// Work     two reads and one write per element
// Limits   any count >= 0; pointers aligned to their element; z may alias x or y
// Numerics F32 and BF16 rounded once, BF16 added in float; integers wrap
// Async    on `stream`
// Errors   the launch's status
cudaError_t launch_add(const GpuSum& sum, cudaStream_t stream);

// Size of the scratch memory for launch_sum_of_squares().
std::int64_t norm_scratch_bytes();

// sums[0] = the sum of x[i]^2 over [count]; sums: norm_scratch_bytes() of scratch memory.
// Work     one read and one double-precision fused multiply-add per element
// Limits   any count >= 1; x aligned to its element
// Numerics double throughout; each thread adds at most count / 2^18 + 1 squares sequentially,
//          followed by 18 levels of pairwise sums, so the relative error of the sum is at most
//          gamma_(count / 2^18 + 19), u = 2^-53. The order is fixed, so results are reproducible
//          bit for bit
// Async    on `stream`
// Errors   the launches' status
// Source   Higham, "Accuracy and Stability of Numerical Algorithms" (2002), ch. 4
cudaError_t launch_sum_of_squares(const GpuNorm& norm, double* sums, cudaStream_t stream);

}  // namespace lab::cuda
