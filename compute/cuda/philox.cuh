#pragma once
// The random numbers of compute/tensor/random.h on the device: the same integers, and the same
// float operations in the same order. Compiled without contraction into fused multiply-adds. Source
// Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011: Philox4x32-10;
//         constants and polynomials in compute/tensor/random_bits.h
#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/cuda/kernel/simt.h"
#include "compute/tensor/random_bits.h"

namespace lab::cuda {

struct PhiloxBlock {
  std::uint32_t w[4];
};

LAB_DEVICE std::uint32_t high_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}
LAB_DEVICE std::uint32_t low_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

// Block `index` of stream 0.
LAB_DEVICE PhiloxBlock philox(std::uint64_t seed, std::uint64_t index) {
  std::uint32_t c0 = low_word(index), c1 = high_word(index), c2 = 0, c3 = 0;
  std::uint32_t k0 = low_word(seed), k1 = high_word(seed);
  LAB_UNROLL
  for (int round = 0; round < random::kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{random::kMul0} * c0;
    const std::uint64_t p1 = std::uint64_t{random::kMul1} * c2;
    c0 = high_word(p1) ^ c1 ^ k0;
    c1 = low_word(p1);
    c2 = high_word(p0) ^ c3 ^ k1;
    c3 = low_word(p0);
    k0 += random::kWeyl0;
    k1 += random::kWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

LAB_DEVICE float signed_to_float(std::uint32_t w) {
  return static_cast<float>(static_cast<std::int32_t>(w));
}

LAB_DEVICE float uniform_of(std::uint32_t w) {
  return signed_to_float(w >> 8) * random::kUniformScale;
}

// sqrt(-2 ln u) of a radius word.
LAB_DEVICE float radius_of(std::uint32_t w) {
  const float u = (signed_to_float(w >> 1) + 0.5F) * random::kRadiusScale;
  const std::uint32_t shifted =
      std::bit_cast<std::uint32_t>(u) + (random::kOneBits - random::kSqrtHalfBits);
  const float e = static_cast<float>(static_cast<std::int32_t>(shifted >> 23) - 127);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFFU) + random::kSqrtHalfBits);
  const float t = (m - 1.0F) / (m + 1.0F);
  const float s = t * t;
  float p = random::kArtanh9 * s + random::kArtanh7;
  p = p * s + random::kArtanh5;
  p = p * s + random::kArtanh3;
  p = p * s + 1.0F;
  return sqrtf(-2.0F * (e * random::kLn2 + (t + t) * p));
}

struct Turn {
  float sine, cosine;
};

// The angle of a word: a turn in units of 2^-32.
LAB_DEVICE Turn turn_of(std::uint32_t w) {
  const std::uint32_t quarter = (w + random::kEighthTurn) >> 30;
  const float a = signed_to_float(w - (quarter << 30)) * random::kAngleScale;
  const float s = a * a;
  float p = random::kSin9 * s + random::kSin7;
  p = p * s + random::kSin5;
  p = p * s + random::kSin3;
  p = p * s + 1.0F;
  float q = random::kCos8 * s + random::kCos6;
  q = q * s + random::kCos4;
  q = q * s + random::kCos2;
  q = q * s + 1.0F;
  const float sine = a * p;
  const bool odd = (quarter & 1U) != 0;
  const float x = odd ? sine : q;
  const float y = odd ? q : sine;
  return {(quarter & 2U) != 0 ? -y : y, ((quarter + 1) & 2U) != 0 ? -x : x};
}

struct FourValues {
  float v[4];
};

LAB_DEVICE FourValues four_uniform(const PhiloxBlock& b) {
  return {{uniform_of(b.w[0]), uniform_of(b.w[1]), uniform_of(b.w[2]), uniform_of(b.w[3])}};
}

// Two Box-Muller pairs.
LAB_DEVICE FourValues four_normal(const PhiloxBlock& b) {
  const float r0 = radius_of(b.w[0]);
  const float r1 = radius_of(b.w[2]);
  const Turn t0 = turn_of(b.w[1]);
  const Turn t1 = turn_of(b.w[3]);
  return {{r0 * t0.cosine, r0 * t0.sine, r1 * t1.cosine, r1 * t1.sine}};
}

}  // namespace lab::cuda
