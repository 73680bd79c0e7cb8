#include "compute/cuda/matmul/r06_warp.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kWarpTiling>, kWarpTiling.blocks_per_sm)
    warp_kernel(MatmulArgs args) {
  warp_body<kWarpTiling, kAligned>(args);
}

}  // namespace

RungCode warp_code() {
  return rung_code<kWarpTiling, float, warp_kernel<true>, warp_kernel<false>>();
}

}  // namespace lab::cuda_matmul
