#include "compute/gpu/cuda/matmul/launch.h"

namespace lab::cuda_matmul {

RungCode code_of(CudaKernel kernel) {
  switch (kernel) {
    case CudaKernel::Naive: return naive_code();
    case CudaKernel::Coalesced: return coalesced_code();
    case CudaKernel::Shared: return shared_code();
    case CudaKernel::Column: return column_code();
    case CudaKernel::Square: return square_code();
    case CudaKernel::Vector: return vector_code();
    case CudaKernel::Warp: return warp_code();
    case CudaKernel::Async: return async_code();
    case CudaKernel::Tf32: return tf32_code();
    case CudaKernel::Bf16: return bf16_code();
    case CudaKernel::Wgmma: return wgmma_code();
    case CudaKernel::Producer: return producer_code();
    case CudaKernel::Persistent: return persistent_code();
    case CudaKernel::Cluster: return cluster_code();
  }
  return {};
}

}  // namespace lab::cuda_matmul
