#include "compute/cuda/matmul/r09_bf16.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kBf16Tiling>, kBf16Tiling.blocks_per_sm)
    bf16_kernel(Bf16MatmulArgs args) {
  bf16_body<kBf16Tiling, kAligned>(args);
}

}  // namespace

cudaError_t launch_bf16(const Bf16MatmulArgs& args, cudaStream_t stream) {
  const auto kernel = in_whole_pieces(args) ? bf16_kernel<true> : bf16_kernel<false>;
  return start<kBf16Tiling>(kernel, args, stream, kBf16Tiling.shared_bytes());
}

}  // namespace lab::cuda_matmul
