#pragma once
// What launches of the peak kernels have in common. For .cu files.
#include "compute/gpu/cuda/matmul/load_kernels.cuh"
#include "compute/gpu/cuda/matmul/peak.h"
#include "compute/gpu/cuda/matmul/peak_factors.cuh"

namespace lab::cuda_matmul {

// Room for the sums of all warps of 512 multiprocessors; each file of kernels has its own.
constexpr int kPeakSums = 16384;

// A kernel with so many blocks of kThreads threads on each multiprocessor.
template <void (*kKernel)(std::int64_t), int kThreads, int kBlocks, int kDynamicBytes = 0>
PeakCode peak_code(double thread_flop) {
  static_assert(kPeakSums % (kThreads / 32 * kBlocks) == 0);
  return {.load = [] { return load_kernels(kDynamicBytes, kKernel); },
          .launch =
              [](std::int64_t rounds, int multiprocessors, cudaStream_t stream) {
                if (multiprocessors > kPeakSums / (kThreads / 32 * kBlocks)) {
                  return cudaErrorInvalidValue;
                }
                kKernel<<<static_cast<unsigned>(multiprocessors * kBlocks), kThreads, kDynamicBytes,
                          stream>>>(rounds);
                return cudaGetLastError();
              },
          .round_flop = thread_flop * kThreads * kBlocks};
}

}  // namespace lab::cuda_matmul
