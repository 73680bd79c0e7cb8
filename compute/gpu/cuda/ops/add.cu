#include "compute/gpu/cuda/ops/add.h"

#include "compute/gpu/cuda/ops/add.cuh"
#include "compute/gpu/cuda/ops/grid.h"

namespace lab::cuda {
namespace {

template <typename T>
__global__ void __launch_bounds__(kAddThreads) add_kernel(AddArgs<T> args) {
  add_body(args);
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

}  // namespace lab::cuda
