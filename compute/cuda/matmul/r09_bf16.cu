#include "compute/cuda/matmul/r09_bf16.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kBf16Tiling>, kBf16Tiling.blocks_per_sm)
    bf16_kernel(Bf16MatmulArgs args) {
  bf16_body<kBf16Tiling, kAligned>(args);
}

}  // namespace

RungCode bf16_code() {
  return rung_code<kBf16Tiling, std::uint16_t, bf16_kernel<true>, bf16_kernel<false>,
                   kBf16Tiling.shared_bytes()>();
}

}  // namespace lab::cuda_matmul
