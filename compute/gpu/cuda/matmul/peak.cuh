#pragma once
// Measures a GPU's multiply-add rate on register operands: nothing is loaded, so no product can be
// faster.
//   sums [blocks * warps of a block] FP32, device
// Work     fp32_peak_body: 2*kChains*kMultipliers*kRepeats FLOP per thread and round;
//          mma_peak_body: 2*kChains*kRepeats instructions per warp and round, of 4096 (bf16) or
//          2048 (tf32) FLOP each
// Rates    dense FLOP per clock and SM:
//            FP32 on 8.0   128: 64 lanes          on 8.6 and later   256: 128 lanes
//            bf16 on 8.0  2048: 312 TFLOPS / (108 * 1.41 GHz); tf32 half of it
//            bf16 on 9.0  4096: 989 TFLOPS / (132 * 1.83 GHz); tf32 half of it
//          H200 has the rates of H100. mma.sync reaches about 0.62 of them (Luo et al.); the full
//          rate requires wgmma: peak_wgmma.cu
// Limits   rounds >= 0; blocks of whole warps; tensor cores: compute capability 8.0 or later
// Numerics fp32: x = a*x + b with |a| < 0.75, so |x| < 4 in every round, within 32*u of exact. mma:
//          each round repeats the previous one's products with the opposite sign, so the sums
//          return to zero except for rounding; after an odd number of rounds they are the sums of
//          one round
// Source   NVIDIA A100 and H100 whitepapers, tables of peak rates; Luo et al., "Benchmarking and
//          Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", IPDPS 2024
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda_matmul {

// sums: one element per warp; storing a result keeps the multiply-adds from being optimised away.
struct PeakArgs {
  float* sums = nullptr;
  std::int64_t rounds = 0;
};

// An operand of magnitude 0.5 to 1, a function of its index. Signs are mixed and bits have no
// pattern, because a multiplier's power draw, and thus the clock, depends on them.
LAB_DEVICE float peak_operand(std::uint32_t index) {
  std::uint32_t bits = (index + 1) * 2654435761U;  // 2^32 / golden ratio; prime
  bits ^= bits >> 16;
  bits *= 2246822519U;
  bits ^= bits >> 13;
  constexpr std::uint32_t kHalf = 0x3f000000U, kSignAndMantissa = 0x807fffffU;
  return __builtin_bit_cast(float, kHalf | (bits & kSignAndMantissa));
}

// The values in one 32-bit operand register; kSigns: the sign bits of all of them.
struct PeakBf16 {
  static constexpr std::uint32_t kSigns = 0x80008000U;
  LAB_DEVICE static std::uint32_t word(std::uint32_t index) {
    return simt::pack_bf16(peak_operand(2 * index), peak_operand(2 * index + 1));
  }
};
struct PeakTf32 {
  static constexpr std::uint32_t kSigns = 0x80000000U;
  LAB_DEVICE static std::uint32_t word(std::uint32_t index) {
    return simt::to_tf32(peak_operand(index));
  }
};

LAB_DEVICE void write_peak_sum(const PeakArgs& args, float sum) {
  const float all = simt::warp_sum(sum);
  if (simt::lane() != 0) return;
  const int warps = simt::block_dim().x / 32;
  simt::global(args.sums)[simt::block_idx().x * warps + simt::warp()] = all;
}

constexpr float kPeakDamping = 0.75F;
constexpr int kPeakWords = 64;  // operand indices per thread

LAB_DEVICE std::uint32_t first_peak_index() {
  const int thread = simt::block_idx().x * simt::block_dim().x + simt::thread_idx().x;
  return std::uint32_t(thread) * kPeakWords;
}

// Each thread has kChains chains of dependent multiply-adds. Their addends are immediates, and the
// multiplier is held in the operand reuse cache: of three registers, two in the same bank of the
// register file would take a second clock.
template <int kChains, int kMultipliers, int kRepeats>
LAB_DEVICE void fp32_peak_body(const PeakArgs& args) {
  static_assert(kChains + kMultipliers <= kPeakWords);
  const std::uint32_t first = first_peak_index();
  float x[kChains], b[kChains], a[kMultipliers];
  LAB_UNROLL
  for (int j = 0; j < kChains; ++j) {
    x[j] = peak_operand(first + j);
    b[j] = peak_operand(j);
  }
  LAB_UNROLL
  for (int s = 0; s < kMultipliers; ++s) a[s] = kPeakDamping * peak_operand(first + kChains + s);
  LAB_NO_UNROLL
  for (std::int64_t round = 0; round < args.rounds; ++round) {
    LAB_UNROLL
    for (int i = 0; i < kRepeats * kMultipliers; ++i) {
      LAB_UNROLL
      for (int j = 0; j < kChains; ++j) x[j] = simt::fma(a[i % kMultipliers], x[j], b[j]);
    }
  }
  float sum = 0;
  LAB_UNROLL
  for (int j = 0; j < kChains; ++j) sum += x[j];
  write_peak_sum(args, sum);
}

LAB_DEVICE void multiply_peak(PeakBf16, float (&d)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
  simt::mma_m16n8k16_bf16(d, a, b);
}
LAB_DEVICE void multiply_peak(PeakTf32, float (&d)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
  simt::mma_m16n8k8_tf32(d, a, b);
}

// Each warp has kChains accumulators; each accumulates its own B times two alternating A operands.
template <class Kind, int kChains, int kRepeats>
LAB_DEVICE void mma_peak_body(const PeakArgs& args) {
  static_assert(8 + 2 * kChains <= kPeakWords);
  const std::uint32_t first = first_peak_index();
  std::uint32_t a[2][4], b[kChains][2];
  float sums[kChains][4] = {};
  LAB_UNROLL
  for (int r = 0; r < 8; ++r) a[r / 4][r % 4] = Kind::word(first + r);
  LAB_UNROLL
  for (int r = 0; r < 2 * kChains; ++r) b[r / 2][r % 2] = Kind::word(first + 8 + r);
  LAB_NO_UNROLL
  for (std::int64_t round = 0; round < args.rounds; ++round) {
    LAB_UNROLL
    for (int i = 0; i < 2 * kRepeats; ++i) {
      LAB_UNROLL
      for (int j = 0; j < kChains; ++j) multiply_peak(Kind{}, sums[j], a[i % 2], b[j]);
    }
    LAB_UNROLL
    for (int r = 0; r < 2 * kChains; ++r) b[r / 2][r % 2] ^= Kind::kSigns;
  }
  float sum = 0;
  LAB_UNROLL
  for (int r = 0; r < 4 * kChains; ++r) sum += sums[r / 4][r % 4];
  write_peak_sum(args, sum);
}

}  // namespace lab::cuda_matmul
