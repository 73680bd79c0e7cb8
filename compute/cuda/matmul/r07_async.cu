#include "compute/cuda/matmul/r07_async.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kAsyncTiling>, kAsyncTiling.blocks_per_sm)
    async_kernel(MatmulArgs args) {
  async_body<kAsyncTiling, kAligned>(args);
}

}  // namespace

cudaError_t launch_async(const MatmulArgs& args, cudaStream_t stream) {
  const auto kernel = in_whole_pieces(args) ? async_kernel<true> : async_kernel<false>;
  return start<kAsyncTiling>(kernel, args, stream, kAsyncTiling.shared_bytes());
}

}  // namespace lab::cuda_matmul
