#include "compute/cuda/matmul/r02_shared.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kSharedTiling>) shared_kernel(MatmulArgs args) {
  shared_body<kSharedTiling>(args);
}

}  // namespace

RungCode shared_code() {
  return rung_code<kSharedTiling, float, shared_kernel>();
}

}  // namespace lab::cuda_matmul
