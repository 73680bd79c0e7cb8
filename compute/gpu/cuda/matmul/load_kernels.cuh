#pragma once
// Loading kernels before they run. For .cu files.
#include <cuda_runtime.h>

namespace lab::cuda_matmul {

// Loads kernels onto the current GPU, which a first launch would else do, and lets each have so
// much dynamic shared memory: more than 48 KiB comes only on request, which holds for one GPU.
template <class... Kernels>
cudaError_t load_kernels(int dynamic_bytes, Kernels*... kernels) {
  cudaError_t status = cudaSuccess;
  const auto load_one = [&](const void* kernel) {
    cudaFuncAttributes told{};
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&told, kernel);
    if (status == cudaSuccess && dynamic_bytes > 0) {
      status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_bytes);
    }
  };
  (load_one(reinterpret_cast<const void*>(kernels)), ...);
  return status;
}

}  // namespace lab::cuda_matmul
