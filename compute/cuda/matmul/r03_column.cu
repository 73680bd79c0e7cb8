#include "compute/cuda/matmul/r03_column.cuh"

#include "compute/cuda/matmul/launch.cuh"
#include "compute/cuda/matmul/launch.h"

namespace lab::cuda_matmul {
namespace {

__global__ void __launch_bounds__(kThreads<kColumnTiling>) column_kernel(MatmulArgs args) {
  column_body<kColumnTiling>(args);
}

}  // namespace

cudaError_t launch_column(const MatmulArgs& args, cudaStream_t stream) {
  return start<kColumnTiling>(column_kernel, args, stream);
}

}  // namespace lab::cuda_matmul
