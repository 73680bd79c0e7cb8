#include "compute/cuda/matmul/r08_tf32.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kTf32Tiling>, kTf32Tiling.blocks_per_sm)
    tf32_kernel(MatmulArgs args) {
  tf32_body<kTf32Tiling, kAligned>(args);
}

}  // namespace

cudaError_t launch_tf32(const MatmulArgs& args, cudaStream_t stream) {
  const auto kernel = in_whole_pieces(args) ? tf32_kernel<true> : tf32_kernel<false>;
  return start<kTf32Tiling>(kernel, args, stream, kTf32Tiling.shared_bytes());
}

}  // namespace lab::cuda_matmul
