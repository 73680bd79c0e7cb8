#include "compute/gpu/cuda/ops/norm.h"

#include "compute/gpu/cuda/ops/norm.cuh"

namespace lab::cuda {
namespace {

template <typename T>
__global__ void __launch_bounds__(kNormThreads) squares_kernel(SquaresArgs<T> args) {
  squares_body(args);
}

__global__ void __launch_bounds__(kNormThreads) total_kernel(TotalArgs args) {
  total_body(args);
}

}  // namespace

cudaError_t launch_sum_of_squares(const GpuNorm& norm, double* sums, cudaStream_t stream) {
  const int blocks = norm_blocks(norm.count);
  const cudaError_t status = with_element(norm.dtype, [&]<typename T>(T*) {
    const SquaresArgs<T> args{reinterpret_cast<const T*>(norm.x), sums, norm.count};
    squares_kernel<<<blocks, kNormThreads, 0, stream>>>(args);
    return cudaGetLastError();
  });
  if (status != cudaSuccess) return status;
  total_kernel<<<1, kNormThreads, 0, stream>>>(TotalArgs{sums, blocks});
  return cudaGetLastError();
}

}  // namespace lab::cuda
