#pragma once
// Random number arithmetic, shared by the scalar, vector and GPU generators. It uses only
// operations that IEEE 754 rounds exactly (+, -, *, /, sqrt), and none may be fused, so that all of
// them produce the same bits.
#include <array>
#include <bit>
#include <cstdint>

namespace lab::random {

inline constexpr std::uint32_t kMul0 = 0xD2511F53U;
inline constexpr std::uint32_t kMul1 = 0xCD9E8D57U;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;  // golden ratio
inline constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;  // sqrt(3) - 1
inline constexpr int kRounds = 10;

inline constexpr float kUniformScale = 0x1p-24F;

// Box-Muller takes the radius from one 32-bit word and the angle from the next.
// Radius: u = (w / 2 + 0.5) * 2^-31 in (0, 1], then sqrt(-2 ln u) with
// ln(m * 2^e) = e ln 2 + 2 artanh(t), t = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)).
inline constexpr float kRadiusScale = 0x1p-31F;
inline constexpr std::uint32_t kSqrtHalfBits = 0x3F3504F3U;
inline constexpr std::uint32_t kOneBits = 0x3F800000U;
inline constexpr float kLn2 = 0.6931471805599453F;
inline constexpr float kArtanh3 = 1.0F / 3, kArtanh5 = 1.0F / 5, kArtanh7 = 1.0F / 7,
                       kArtanh9 = 1.0F / 9;

// Angle: w is a fraction of a turn in units of 2^-32. The nearest quarter turn is subtracted in
// integer arithmetic; the remainder, at most an eighth of a turn, is passed to the Taylor
// polynomials of sine and cosine.
inline constexpr std::uint32_t kEighthTurn = 1U << 29;
inline constexpr float kAngleScale = 1.4629180792671596e-09F;  // 2 pi / 2^32
inline constexpr float kSin3 = -1.0F / 6, kSin5 = 1.0F / 120, kSin7 = -1.0F / 5040,
                       kSin9 = 1.0F / 362880;
inline constexpr float kCos2 = -1.0F / 2, kCos4 = 1.0F / 24, kCos6 = -1.0F / 720,
                       kCos8 = 1.0F / 40320;

constexpr std::uint32_t low_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
constexpr std::uint32_t high_word(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

// Philox4x32 with ten rounds, of counter `c` and key `k`.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> c,
                                                  std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMul0} * c[0];
    const std::uint64_t p1 = std::uint64_t{kMul1} * c[2];
    c = {high_word(p1) ^ c[1] ^ k[0], low_word(p1), high_word(p0) ^ c[3] ^ k[1], low_word(p0)};
    k = {k[0] + kWeyl0, k[1] + kWeyl1};
  }
  return c;
}

// The words 4 * index to 4 * index + 3 of a stream, as lab::RandomStream (compute/tensor/random.h).
constexpr std::array<std::uint32_t, 4> stream_block(std::uint64_t seed, std::uint64_t stream,
                                                    std::uint64_t index) {
  return philox4x32({low_word(index), high_word(index), low_word(stream), high_word(stream)},
                    {low_word(seed), high_word(seed)});
}

// Uniform in [0, n) from the word `w`, with negligible bias.
constexpr std::uint32_t below(std::uint32_t w, std::uint32_t n) {
  return high_word(std::uint64_t{w} * n);
}

constexpr float signed_to_float(std::uint32_t w) {
  return static_cast<float>(static_cast<std::int32_t>(w));
}

constexpr float uniform_of(std::uint32_t w) {
  return signed_to_float(w >> 8) * kUniformScale;
}

// Returns -2 ln u for the radius word `w`: the square of the radius.
constexpr float squared_radius(std::uint32_t w) {
  const float u = (signed_to_float(w >> 1) + 0.5F) * kRadiusScale;
  const std::uint32_t shifted = std::bit_cast<std::uint32_t>(u) + (kOneBits - kSqrtHalfBits);
  const float e = signed_to_float((shifted >> 23) - 127);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFFU) + kSqrtHalfBits);
  const float t = (m - 1.0F) / (m + 1.0F);
  const float s = t * t;
  float p = kArtanh9 * s + kArtanh7;
  p = p * s + kArtanh5;
  p = p * s + kArtanh3;
  p = p * s + 1.0F;
  return -2.0F * (e * kLn2 + (t + t) * p);
}

struct Turn {
  float sine, cosine;
};

// Returns the sine and cosine of the angle word `w`.
constexpr Turn turn_of(std::uint32_t w) {
  const std::uint32_t quarter = (w + kEighthTurn) >> 30;
  const float a = signed_to_float(w - (quarter << 30)) * kAngleScale;
  const float s = a * a;
  float p = kSin9 * s + kSin7;
  p = p * s + kSin5;
  p = p * s + kSin3;
  p = p * s + 1.0F;
  float q = kCos8 * s + kCos6;
  q = q * s + kCos4;
  q = q * s + kCos2;
  q = q * s + 1.0F;
  const float sine = a * p;
  const bool odd = (quarter & 1U) != 0;
  const float x = odd ? sine : q;
  const float y = odd ? q : sine;
  return {(quarter & 2U) != 0 ? -y : y, ((quarter + 1) & 2U) != 0 ? -x : x};
}

}  // namespace lab::random
