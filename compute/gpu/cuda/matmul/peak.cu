#include "compute/gpu/cuda/matmul/peak.cuh"

#include "compute/gpu/cuda/matmul/rungs/launch.cuh"

namespace lab::cuda_matmul {
namespace {

constexpr int kPeakThreads = 256;
constexpr int kFmaBlocks = 4, kMmaBlocks = 2;                      // blocks per SM
constexpr int kFmaChains = 8, kMultipliers = 4, kFmaRepeats = 16;  // 512 multiply-adds per thread
constexpr int kMmaChains = 8, kMmaRepeats = 8;                     // 128 instructions per warp

__device__ float peak_sums[kPeakSums];

__global__ void __launch_bounds__(kPeakThreads, kFmaBlocks) fp32_peak_kernel(std::int64_t rounds) {
  fp32_peak_body<kFmaChains, kMultipliers, kFmaRepeats>({peak_sums, rounds});
}
__global__ void __launch_bounds__(kPeakThreads, kMmaBlocks) tf32_peak_kernel(std::int64_t rounds) {
  mma_peak_body<PeakTf32, kMmaChains, kMmaRepeats>({peak_sums, rounds});
}
__global__ void __launch_bounds__(kPeakThreads, kMmaBlocks) bf16_peak_kernel(std::int64_t rounds) {
  mma_peak_body<PeakBf16, kMmaChains, kMmaRepeats>({peak_sums, rounds});
}

constexpr double kFmaFlop = 2.0 * kFmaChains * kMultipliers * kFmaRepeats;  // FLOP per thread
constexpr double kMmas = 2.0 * kMmaChains * kMmaRepeats / 32;               // per thread

}  // namespace

std::optional<PeakCode> peak_of(Precision precision, const GpuProperties& gpu) {
  if (precision == Precision::F32) {
    return peak_code<fp32_peak_kernel, kPeakThreads, kFmaBlocks>(kFmaFlop);
  }
  const bool tf32 = precision == Precision::TF32;
  if (gpu.compute_major == 9 && gpu.compute_minor == 0) {
    return tf32 ? wgmma_tf32_peak() : wgmma_bf16_peak();
  }
  // The tensor cores of data-centre GPUs after Hopper have instructions of their own (tcgen05);
  // mma.sync does not reach their peak.
  if (gpu.compute_major < 8 || gpu.compute_major == 10 || gpu.compute_major == 11) {
    return std::nullopt;
  }
  if (tf32) return peak_code<tf32_peak_kernel, kPeakThreads, kMmaBlocks>(kMmas * 2 * 16 * 8 * 8);
  return peak_code<bf16_peak_kernel, kPeakThreads, kMmaBlocks>(kMmas * 2 * 16 * 8 * 16);
}

}  // namespace lab::cuda_matmul
