#pragma once
// Launches of the CUDA ladder. Shapes, work, limits and numerics of each stand in its r*.cuh.
#include <cuda_runtime_api.h>

#include "compute/cuda/matmul/ladder.h"

namespace lab::cuda_matmul {

// C = A*B on `stream`. Operands must outlive it; unsupported() has said nothing against it. Returns
// the launch's status; an empty C launches nothing.
cudaError_t launch_naive(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_coalesced(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_shared(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_column(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_square(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_vector(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_warp(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_async(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_tf32(const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_bf16(const Bf16MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_wgmma(const Bf16MatmulArgs& args, cudaStream_t stream);
cudaError_t launch_persistent(const Bf16MatmulArgs& args, cudaStream_t stream);

// By name of the rung; cudaErrorInvalidValue for one that takes other factors.
cudaError_t launch(CudaKernel kernel, const MatmulArgs& args, cudaStream_t stream);
cudaError_t launch(CudaKernel kernel, const Bf16MatmulArgs& args, cudaStream_t stream);

}  // namespace lab::cuda_matmul
