#pragma once
// Elementwise sum.
#include <cuda_runtime_api.h>

#include "compute/gpu/gpu_ops.h"

namespace lab::cuda {

// z = x + y, all [count].
// Work     two reads and one write of each element
// Limits   any count >= 0; pointers aligned to their element; z may be x or y
// Numerics F32 and BF16 rounded once, BF16 added in float; integers wrap
// Async    on `stream`
// Errors   the launch's status
cudaError_t launch_add(const GpuSum& sum, cudaStream_t stream);

}  // namespace lab::cuda
