#pragma once
// Launches the ladder's kernels and the peak kernels. All functions return CUDA's status and
// require the GPU to be the calling thread's current device.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>

#include "compute/gpu/cuda/matmul/ladder.h"

namespace lab::cuda_matmul {

// Loads the rung's kernels onto the GPU and sets their shared memory limit. Call once per GPU
// before the first launch. May wait for the GPU.
cudaError_t load(const CudaRung& rung);
// C = A*B on `stream`. Operands must outlive the work, and unsupported() must return nothing for
// the product. An empty C launches nothing. Work, limits and numerics are described in the rung's
// r*.cuh.
cudaError_t launch(const CudaRung& rung, const GpuProduct& product, cudaStream_t stream);

// The same for rungs with exact_capability, whose kernels are compiled for sm_90a only.
cudaError_t load_hopper(const CudaRung& rung);
cudaError_t launch_hopper(const CudaRung& rung, const GpuProduct& product, cudaStream_t stream);

// The host memory for the note of a wait that timed out (stalled_wait.h), which has the same
// address on every GPU. Kernels with such waits need it in hopper::wait_note before their first
// launch.
cudaError_t make_wait_note(std::uint32_t*& note);
// Describes the wait for a barrier that timed out and ended a context of this process; empty if
// none did. Callable after the context has ended.
std::string describe_stall();

// A kernel of peak.cuh or peak_wgmma.cu, which describe its work, rates and limits.
struct PeakCode {
  // Loads the kernel. Call once per GPU before the first launch. May wait for the GPU.
  cudaError_t (*load)() = nullptr;
  // `rounds` > 0, each about 2048 clocks at the full rate. Asynchronous on `stream`.
  cudaError_t (*launch)(std::int64_t rounds, int multiprocessors, cudaStream_t stream) = nullptr;
  double round_flop = 0;  // FLOP per SM and round
};

PeakCode wgmma_tf32_peak();
PeakCode wgmma_bf16_peak();

// The kernel with the fastest instructions that the GPU has for the precision, or nothing if it has
// none.
std::optional<PeakCode> peak_of(Precision precision, const GpuProperties& gpu);

}  // namespace lab::cuda_matmul
