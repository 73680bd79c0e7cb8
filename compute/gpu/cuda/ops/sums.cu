#include "compute/gpu/cuda/ops/sums.cuh"

#include "compute/gpu/cuda/ops/ops.h"

namespace lab::cuda {
namespace {

template <typename T>
__global__ void __launch_bounds__(kAddThreads) add_kernel(AddArgs<T> args) {
  add_body(args);
}

template <typename T>
__global__ void __launch_bounds__(kNormThreads) squares_kernel(SquaresArgs<T> args) {
  squares_body(args);
}

__global__ void __launch_bounds__(kNormThreads) total_kernel(TotalArgs args) {
  total_body(args);
}

}  // namespace

cudaError_t launch_add(const GpuSum& sum, cudaStream_t stream) {
  if (sum.count == 0) return cudaSuccess;
  const auto grid = grid_of(add_blocks(sum.count));
  if (!grid) return cudaErrorInvalidValue;
  return with_element(sum.dtype, [&]<typename T>(T*) {
    const AddArgs<T> args{reinterpret_cast<const T*>(sum.x), reinterpret_cast<const T*>(sum.y),
                          reinterpret_cast<T*>(sum.z), sum.count};
    add_kernel<<<*grid, kAddThreads, 0, stream>>>(args);
    return cudaGetLastError();
  });
}

std::int64_t norm_scratch_bytes() {
  return kNormBlocks * static_cast<std::int64_t>(sizeof(double));
}

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
