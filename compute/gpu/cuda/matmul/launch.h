#pragma once
// Launches of the CUDA ladder. Shapes, work, limits and numerics of each stand in its r*.cuh.
#include <cuda_runtime_api.h>

#include "compute/gpu/cuda/matmul/ladder.h"

namespace lab::cuda_matmul {

// How a rung is started. Both return CUDA's status and want the GPU to be the thread's current
// one.
struct RungCode {
  // Loads the rung's kernels onto the GPU and lets them have their shared memory: once for each
  // GPU, before the first launch. May wait for the GPU.
  cudaError_t (*load)() = nullptr;
  // C = A*B on `stream`. Operands must outlive it; unsupported() has said nothing against it. An
  // empty C launches nothing.
  cudaError_t (*launch)(const GpuProduct& product, cudaStream_t stream) = nullptr;
};

RungCode naive_code();
RungCode coalesced_code();
RungCode shared_code();
RungCode column_code();
RungCode square_code();
RungCode vector_code();
RungCode warp_code();
RungCode async_code();
RungCode tf32_code();
RungCode bf16_code();
RungCode wgmma_code();
RungCode producer_code();
RungCode persistent_code();
RungCode cluster_code();

RungCode code_of(CudaKernel kernel);

}  // namespace lab::cuda_matmul
