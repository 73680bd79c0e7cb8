#pragma once
// Counter-based random numbers: the value at an index depends on seed, stream and index alone, so
// any thread or device can make any part.
// Source  Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011: Philox4x32-10
#include <array>
#include <cstdint>
#include <span>

namespace lab {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Ten rounds.
PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key);

// A sequence of its own: two sequences with different seed or stream are independent.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  // 32 random bits at `index`.
  std::uint32_t bits(std::uint64_t index) const;
  // Uniform in [0, 1), 24 random bits: index-th value.
  float uniform(std::uint64_t index) const;
  // Standard normal by Box-Muller with our own polynomials of +, -, *, / and sqrt, nothing fused:
  // the same bits on any IEEE device. |x| < 6.7.
  float normal(std::uint64_t index) const;
  // Uniform in [0, n), n > 0, without modulo bias worth measuring (32x32 multiply-high; n < 2^31).
  std::uint32_t below(std::uint64_t index, std::uint32_t n) const;

  // out[i] = the value at first + i.
  void fill_uniform(std::span<float> out, std::uint64_t first = 0) const;
  void fill_normal(std::span<float> out, std::uint64_t first = 0) const;
};

}  // namespace lab
