#pragma once
// Counter-based random numbers: a value depends only on seed, stream and index, so any thread or
// device can generate any part of a sequence.
// Source  Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011: Philox4x32-10
#include <array>
#include <cstdint>
#include <span>

namespace lab {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// A random sequence. Sequences with different seeds or streams are independent.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  // 32 random bits at `index`.
  std::uint32_t bits(std::uint64_t index) const;
  // Uniform in [0, 1) with 24 random bits.
  float uniform(std::uint64_t index) const;
  // Standard normal by Box-Muller, with polynomials that use only +, -, *, / and sqrt, never fused:
  // bit-identical on every IEEE device. |x| < 6.7.
  float normal(std::uint64_t index) const;
  // Uniform in [0, n), n > 0, with negligible modulo bias (32x32 multiply-high; n < 2^31).
  std::uint32_t below(std::uint64_t index, std::uint32_t n) const;

  // out[i] = the value at index first + i.
  void fill_uniform(std::span<float> out, std::uint64_t first = 0) const;
  void fill_normal(std::span<float> out, std::uint64_t first = 0) const;
};

}  // namespace lab
