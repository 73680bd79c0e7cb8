#include "compute/cuda/matmul/r10_wgmma.cuh"

#include "compute/cuda/matmul/hopper_launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kWgmmaTiling>, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 Bf16MatmulArgs args) {
  wgmma_body<kWgmmaTiling>(a, b, args);
}

}  // namespace

cudaError_t launch_wgmma(const Bf16MatmulArgs& args, cudaStream_t stream) {
  return start_hopper<kWgmmaTiling>(wgmma_kernel, args, tiles_of(kWgmmaTiling, args.m, args.n),
                                    stream);
}

}  // namespace lab::cuda_matmul
