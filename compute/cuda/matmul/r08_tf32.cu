#include "compute/cuda/matmul/r08_tf32.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kTf32Tiling>, kTf32Tiling.blocks_per_sm)
    tf32_kernel(MatmulArgs args) {
  tf32_body<kTf32Tiling, kAligned>(args);
}

}  // namespace

RungCode tf32_code() {
  return rung_code<kTf32Tiling, float, tf32_kernel<true>, tf32_kernel<false>,
                   kTf32Tiling.shared_bytes()>();
}

}  // namespace lab::cuda_matmul
