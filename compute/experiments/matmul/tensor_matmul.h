#pragma once
// The product of two tensors on the device they live on.
#include "compute/gpu/gpu_backend.h"
#include "compute/tensor/tensor.h"

namespace lab {

// A [M,K] times B [K,N], both f32 or both bf16: C [M,N] in f32 on the same device, by the fastest
// of our kernels there; f32 factors are multiplied in f32, never in tf32. On a GPU it is queued on
// the main stream; what reads or copies C waits for it. Throws Error(DeviceMismatch) naming both
// devices, Error(InvalidArgument) naming shapes or types, Error(Unsupported) where no kernel takes
// the product, Error(OutOfMemory).
Tensor matmul(const Tensor& a, const Tensor& b);

// The rung of a GPU that multiplies where the user chooses none: the last of ours that takes the
// product, because each rung is quicker than the one before on the GPUs that it is for. Null where
// none does.
const GpuRung* gpu_rung_for(GpuDevice& gpu, Precision precision, const GpuProduct& product);

}  // namespace lab
