#include "compute/cuda/matmul/r00_naive.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kNaiveTiling>) naive_kernel(MatmulArgs args) {
  naive_body<kNaiveTiling>(args);
}

}  // namespace

cudaError_t launch_naive(const MatmulArgs& args, cudaStream_t stream) {
  return start<kNaiveTiling>(naive_kernel, args, stream);
}

}  // namespace lab::cuda_matmul
