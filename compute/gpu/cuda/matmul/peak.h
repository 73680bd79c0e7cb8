#pragma once
// Launches of the kernels that measure a GPU's ceiling. Work, rates and limits stand in peak.cuh
// and peak_wgmma.cuh.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "compute/gpu/gpu_backend.h"

namespace lab::cuda_matmul {

// Both functions return CUDA's status and want the GPU to be the thread's current one.
struct PeakCode {
  // Loads the kernel: once for each GPU, before the first launch. May wait for the GPU.
  cudaError_t (*load)() = nullptr;
  // `rounds` > 0, each about 2048 clocks at the full rate. Asynchronous on `stream`.
  cudaError_t (*launch)(std::int64_t rounds, int multiprocessors, cudaStream_t stream) = nullptr;
  double round_flop = 0;  // of a multiprocessor
};

PeakCode fp32_peak();
PeakCode mma_tf32_peak();
PeakCode mma_bf16_peak();
PeakCode wgmma_tf32_peak();
PeakCode wgmma_bf16_peak();

// By the fastest instructions that the GPU has for the precision, if it has any.
std::optional<PeakCode> peak_of(Precision precision, const GpuProperties& gpu);

}  // namespace lab::cuda_matmul
