#include "compute/cuda/matmul/r02_shared.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kSharedTiling>) shared_kernel(MatmulArgs args) {
  shared_body<kSharedTiling>(args);
}

}  // namespace

cudaError_t launch_shared(const MatmulArgs& args, cudaStream_t stream) {
  return start<kSharedTiling>(shared_kernel, args, stream);
}

}  // namespace lab::cuda_matmul
