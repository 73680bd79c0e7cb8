#pragma once
// What all launches of the ladder have in common. For .cu files.
#include <cuda_runtime.h>

#include "compute/cuda/matmul/matmul_args.h"
#include "compute/cuda/matmul/tiling.h"

namespace lab::cuda_matmul {

template <class T>
using MatmulKernel = void (*)(MatmulOf<T>);

// One block for each tile of C. `dynamic_bytes`: shared memory beyond what the kernel declares.
template <Tiling kTile, class T>
cudaError_t start(MatmulKernel<T> kernel, const MatmulOf<T>& args, cudaStream_t stream,
                  int dynamic_bytes = 0) {
  const std::int64_t blocks = tiles_of(kTile, args.m, args.n);
  if (blocks == 0) return cudaSuccess;
  if (dynamic_bytes > 0) {  // more than 48 KiB only on request; the request holds for one card
    const auto status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_bytes);
    if (status != cudaSuccess) return status;
  }
  kernel<<<static_cast<unsigned>(blocks), kThreads<kTile>, static_cast<unsigned>(dynamic_bytes),
           stream>>>(args);
  return cudaGetLastError();
}

}  // namespace lab::cuda_matmul
