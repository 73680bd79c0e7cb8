#pragma once
// Launches of the ladder's kernels, and of those that measure a GPU's ceiling. All functions return
// CUDA's status and require the GPU to be the thread's current one.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>

#include "compute/gpu/cuda/matmul/ladder.h"

namespace lab::cuda_matmul {

// Loads the rung's kernels onto the GPU and lets them have their shared memory: once for each GPU,
// before the first launch. May wait for the GPU.
cudaError_t load(const CudaRung& rung);
// C = A*B on `stream`. Operands must outlive it; unsupported() has said nothing against it. An
// empty C launches nothing. Work, limits and numerics are described in the rung's r*.cuh.
cudaError_t launch(const CudaRung& rung, const GpuProduct& product, cudaStream_t stream);

// The same for rungs with no_later: their kernels are compiled for sm_90a only.
cudaError_t load_hopper(const CudaRung& rung);
cudaError_t launch_hopper(const CudaRung& rung, const GpuProduct& product, cudaStream_t stream);

// A kernel of peak.cuh or peak_wgmma.cu, where its work, rates and limits are described.
struct PeakCode {
  // Loads the kernel: once for each GPU, before the first launch. May wait for the GPU.
  cudaError_t (*load)() = nullptr;
  // `rounds` > 0, each about 2048 clocks at the full rate. Asynchronous on `stream`.
  cudaError_t (*launch)(std::int64_t rounds, int multiprocessors, cudaStream_t stream) = nullptr;
  double round_flop = 0;  // of a multiprocessor
};

PeakCode wgmma_tf32_peak();
PeakCode wgmma_bf16_peak();

// By the fastest instructions that the GPU has for the precision, if it has any.
std::optional<PeakCode> peak_of(Precision precision, const GpuProperties& gpu);

}  // namespace lab::cuda_matmul
