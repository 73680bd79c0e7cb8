#pragma once
// Sum of squares in double.
#include <cuda_runtime_api.h>

#include "compute/gpu/cuda/ops/norm_shape.h"
#include "compute/gpu/gpu_ops.h"

namespace lab::cuda {

inline constexpr std::int64_t kNormScratchBytes = kNormBlocks * sizeof(double);

// sums[0] = the sum of x[i]^2 over [count]; sums: kNormScratchBytes of work memory.
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
