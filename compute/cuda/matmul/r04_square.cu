#include "compute/cuda/matmul/r04_square.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kSquareTiling>) square_kernel(MatmulArgs args) {
  square_body<kSquareTiling>(args);
}

}  // namespace

RungCode square_code() {
  return rung_code<kSquareTiling, float, square_kernel>();
}

}  // namespace lab::cuda_matmul
