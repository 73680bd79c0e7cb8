#include "compute/cuda/matmul/r03_column.cuh"

#include "compute/cuda/matmul/launch.cuh"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kColumnTiling>) column_kernel(MatmulArgs args) {
  column_body<kColumnTiling>(args);
}

}  // namespace

RungCode column_code() {
  return rung_code<kColumnTiling, float, column_kernel>();
}

}  // namespace lab::cuda_matmul
