#include "compute/cuda/matmul/r07_async.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kAsyncTiling>, kAsyncTiling.blocks_per_sm)
    async_kernel(MatmulArgs args) {
  async_body<kAsyncTiling, kAligned>(args);
}

}  // namespace

RungCode async_code() {
  return rung_code<kAsyncTiling, float, async_kernel<true>, async_kernel<false>,
                   kAsyncTiling.shared_bytes()>();
}

}  // namespace lab::cuda_matmul
