#pragma once
// What the peak kernels multiply: numbers of mixed sign without a pattern, as the power that a
// multiplier draws, and so the clock, depends on them.
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda_matmul {

// sums: a number for each warp, so that no multiply-add is for nothing.
struct PeakArgs {
  float* sums = nullptr;
  std::int64_t rounds = 0;
};

// A number of magnitude 0.5 .. 1, the same for the same index.
LAB_DEVICE float peak_factor(std::uint32_t index) {
  std::uint32_t bits = (index + 1) * 2654435761U;  // 2^32 over the golden ratio, a prime
  bits ^= bits >> 16;
  bits *= 2246822519U;
  bits ^= bits >> 13;
  constexpr std::uint32_t kHalf = 0x3f000000U, kSignAndMantissa = 0x807fffffU;
  return __builtin_bit_cast(float, kHalf | (bits & kSignAndMantissa));
}

// The factors in 32 bits of an operand; kSigns: the signs of all of them.
struct PeakBf16 {
  static constexpr std::uint32_t kSigns = 0x80008000U;
  LAB_DEVICE static std::uint32_t word(std::uint32_t index) {
    return simt::pack_bf16(peak_factor(2 * index), peak_factor(2 * index + 1));
  }
};
struct PeakTf32 {
  static constexpr std::uint32_t kSigns = 0x80000000U;
  LAB_DEVICE static std::uint32_t word(std::uint32_t index) {
    return simt::to_tf32(peak_factor(index));
  }
};

LAB_DEVICE void write_peak_sum(const PeakArgs& args, float sum) {
  const float all = simt::warp_sum(sum);
  if (simt::lane() != 0) return;
  const int warps = simt::block_dim().x / 32;
  simt::global(args.sums)[simt::block_idx().x * warps + simt::warp()] = all;
}

}  // namespace lab::cuda_matmul
