#include "compute/gpu/cuda/matmul/peak.h"

namespace lab::cuda_matmul {

std::optional<PeakCode> peak_of(Precision precision, const GpuProperties& gpu) {
  if (precision == Precision::F32) return fp32_peak();
  const bool tf32 = precision == Precision::TF32;
  if (gpu.compute_major == 9 && gpu.compute_minor == 0) {
    return tf32 ? wgmma_tf32_peak() : wgmma_bf16_peak();
  }
  if (gpu.compute_major < 8) return std::nullopt;
  return tf32 ? mma_tf32_peak() : mma_bf16_peak();
}

}  // namespace lab::cuda_matmul
