#pragma once
// Product of two tensors on the device that holds them.
#include "compute/gpu/gpu_backend.h"
#include "compute/tensor/tensor.h"

namespace lab {

// C = A*B with A [M,K] and B [K,N], both f32 or both bf16; C [M,N] is f32 on the same device. Uses
// the lab's fastest kernel for the device; f32 operands are multiplied in f32, never in tf32. On a
// GPU the product is queued on the main stream, and reads and copies of C wait for it. Throws
// Error(DeviceMismatch) naming both devices, Error(InvalidArgument) naming shapes or types,
// Error(Unsupported) if no kernel supports the product, Error(OutOfMemory).
Tensor matmul(const Tensor& a, const Tensor& b);
// The same into an existing C, whose storage neither A nor B shares. Throws also
// Error(InvalidArgument) if C has another shape or type.
void matmul_into(const Tensor& a, const Tensor& b, Tensor& c);

// The GPU rung used when the user chooses none: the last of the lab's own rungs that supports the
// product, because each rung is faster than the previous one on the GPUs it targets. Null if none
// supports it.
const RungInfo* gpu_rung_for(GpuDevice& gpu, Precision precision, const GpuProduct& product);

}  // namespace lab
