#include "compute/cuda/matmul/r05_vector.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kVectorTiling>, kVectorTiling.blocks_per_sm)
    vector_kernel(MatmulArgs args) {
  vector_body<kVectorTiling, kAligned>(args);
}

}  // namespace

cudaError_t launch_vector(const MatmulArgs& args, cudaStream_t stream) {
  const auto kernel = in_whole_pieces(args) ? vector_kernel<true> : vector_kernel<false>;
  return start<kVectorTiling>(kernel, args, stream);
}

}  // namespace lab::cuda_matmul
