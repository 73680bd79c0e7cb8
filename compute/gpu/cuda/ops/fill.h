#pragma once
// Fills memory with constants, indices and random numbers.
#include <cuda_runtime_api.h>

#include "compute/gpu/gpu_ops.h"

namespace lab::cuda {

// to[i] = value of element first + i, i in [0, count).
// Work     one write of each element; random values cost about 100 integer and 60 float operations
//          for four
// Limits   any count >= 0; random kinds: F32 and BF16; `to` aligned to its element
// Numerics the CPU's bits: +, -, *, / and sqrt only, none fused (compiled with -fmad=false)
// Async    on `stream`
// Errors   the launch's status
// Source   philox.cuh
cudaError_t launch_fill(const GpuFill& fill, cudaStream_t stream);

}  // namespace lab::cuda
