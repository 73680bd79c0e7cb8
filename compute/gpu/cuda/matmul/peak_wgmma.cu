#include "compute/gpu/cuda/matmul/peak_wgmma.cuh"

#include "compute/gpu/cuda/matmul/peak_launch.cuh"

namespace lab::cuda_matmul {
namespace {

constexpr int kGroups = 2;  // one multiplies while the other waits for its sums
constexpr int kPeakThreads = kGroups * hopper::kWarpgroup;
using Operands = WgmmaPeakOperands<kGroups>;

__device__ float peak_sums[kPeakSums];

__global__ void __launch_bounds__(kPeakThreads, 1) wgmma_tf32_peak_kernel(std::int64_t rounds) {
  wgmma_peak_body<PeakTf32, kGroups>({peak_sums, rounds});
}
__global__ void __launch_bounds__(kPeakThreads, 1) wgmma_bf16_peak_kernel(std::int64_t rounds) {
  wgmma_peak_body<PeakBf16, kGroups>({peak_sums, rounds});
}

// Of a thread, in one round of instructions with so many terms.
constexpr double thread_flop(int terms) {
  return 2.0 * Operands::kSteps * 2 * hopper::kWgmmaM * hopper::kWgmmaN * terms /
         hopper::kWarpgroup;
}

}  // namespace

PeakCode wgmma_tf32_peak() {
  return peak_code<wgmma_tf32_peak_kernel, kPeakThreads, 1, Operands::kShared>(thread_flop(8));
}

PeakCode wgmma_bf16_peak() {
  return peak_code<wgmma_bf16_peak_kernel, kPeakThreads, 1, Operands::kShared>(thread_flop(16));
}

}  // namespace lab::cuda_matmul
