#include "compute/cuda/matmul/r10_wgmma.cuh"

#include "compute/cuda/matmul/hopper_launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kWgmmaTiling>, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 Bf16MatmulArgs args) {
  wgmma_body<kWgmmaTiling>(a, b, args);
}

}  // namespace

RungCode wgmma_code() {
  return hopper_code<kWgmmaTiling, wgmma_kernel, false>();
}

}  // namespace lab::cuda_matmul
