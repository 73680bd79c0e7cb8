#include "compute/cuda/matmul/r05_vector.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

template <bool kAligned>
__global__ void __launch_bounds__(kThreads<kVectorTiling>, kVectorTiling.blocks_per_sm)
    vector_kernel(MatmulArgs args) {
  vector_body<kVectorTiling, kAligned>(args);
}

}  // namespace

RungCode vector_code() {
  return rung_code<kVectorTiling, float, vector_kernel<true>, vector_kernel<false>>();
}

}  // namespace lab::cuda_matmul
