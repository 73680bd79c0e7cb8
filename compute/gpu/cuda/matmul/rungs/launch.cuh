#pragma once
// Loads kernels and maps a rung to its type, for the .cu files that launch them.
#include <cuda_runtime.h>

#include <string_view>

#include "compute/gpu/cuda/matmul/rungs/launch.h"

namespace lab::cuda_matmul {

// Loads kernels onto the current GPU, which would otherwise happen at the first launch, and allows
// each `dynamic_bytes` of dynamic shared memory. More than 48 KiB requires this opt-in, once per
// GPU.
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

// Returns use(Type{}) for the type of `rung` among those of `Types` whose exact_capability equals
// kHopper; cudaErrorInvalidValue if none has its name.
template <class Types, bool kHopper, class Use>
cudaError_t with_type(const CudaRung& rung, const Use& use) {
  cudaError_t status = cudaErrorInvalidValue;
  Types::for_each([&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kRung.exact_capability == kHopper) {
      if (std::string_view(Type::kRung.name) == rung.name) status = use(type);
    }
  });
  return status;
}

// Capacity for the sums of all warps of 512 SMs; each file of peak kernels has its own array.
constexpr int kPeakSums = 16384;

// A peak kernel with kBlocks blocks of kBlockThreads threads per SM. `thread_flop` is per thread
// and round.
template <void (*kKernel)(std::int64_t), int kBlockThreads, int kBlocks, int kDynamicBytes = 0>
PeakCode peak_code(double thread_flop) {
  constexpr int kSums = kBlockThreads / 32 * kBlocks;
  static_assert(kPeakSums % kSums == 0);
  return {.load = [] { return load_kernels(kDynamicBytes, kKernel); },
          .launch =
              [](std::int64_t rounds, int multiprocessors, cudaStream_t stream) {
                if (multiprocessors > kPeakSums / kSums) return cudaErrorInvalidValue;
                kKernel<<<static_cast<unsigned>(multiprocessors * kBlocks), kBlockThreads,
                          kDynamicBytes, stream>>>(rounds);
                return cudaGetLastError();
              },
          .round_flop = thread_flop * kBlockThreads * kBlocks};
}

}  // namespace lab::cuda_matmul
