#include "compute/cuda/matmul/r04_square.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kSquareTiling>) square_kernel(MatmulArgs args) {
  square_body<kSquareTiling>(args);
}

}  // namespace

cudaError_t launch_square(const MatmulArgs& args, cudaStream_t stream) {
  return start<kSquareTiling>(square_kernel, args, stream);
}

}  // namespace lab::cuda_matmul
