#include "compute/cuda/matmul/r12_persistent.cuh"

#include "compute/cuda/matmul/hopper_launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kPersistentTiling>, 1)
    persistent_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      Bf16MatmulArgs args) {
  persistent_body<kPersistentTiling>(a, b, args);
}

}  // namespace

RungCode persistent_code() {
  return hopper_code<kPersistentTiling, persistent_kernel, true>();
}

}  // namespace lab::cuda_matmul
