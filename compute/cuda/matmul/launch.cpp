#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {

cudaError_t launch(CudaKernel kernel, const MatmulArgs& args, cudaStream_t stream) {
  switch (kernel) {
    case CudaKernel::Naive: return launch_naive(args, stream);
    case CudaKernel::Coalesced: return launch_coalesced(args, stream);
    case CudaKernel::Shared: return launch_shared(args, stream);
    case CudaKernel::Column: return launch_column(args, stream);
    case CudaKernel::Square: return launch_square(args, stream);
    case CudaKernel::Vector: return launch_vector(args, stream);
    case CudaKernel::Warp: return launch_warp(args, stream);
    case CudaKernel::Async: return launch_async(args, stream);
    case CudaKernel::Tf32: return launch_tf32(args, stream);
    case CudaKernel::Bf16:
    case CudaKernel::Wgmma:
    case CudaKernel::Persistent: break;
  }
  return cudaErrorInvalidValue;
}

cudaError_t launch(CudaKernel kernel, const Bf16MatmulArgs& args, cudaStream_t stream) {
  switch (kernel) {
    case CudaKernel::Bf16: return launch_bf16(args, stream);
    case CudaKernel::Wgmma: return launch_wgmma(args, stream);
    case CudaKernel::Persistent: return launch_persistent(args, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace lab::cuda_matmul
