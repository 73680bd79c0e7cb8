#include "compute/cuda/matmul/r06_warp.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kWarpTiling>, kWarpTiling.blocks_per_sm)
    warp_kernel(MatmulArgs args) {
  warp_body<kWarpTiling, kAligned>(args);
}

}  // namespace

cudaError_t launch_warp(const MatmulArgs& args, cudaStream_t stream) {
  const auto kernel = in_whole_pieces(args) ? warp_kernel<true> : warp_kernel<false>;
  return start<kWarpTiling>(kernel, args, stream);
}

}  // namespace lab::cuda_matmul
