#pragma once
// CUDA's vector types and numeric conversions, for the host.
#include <bit>
#include <cmath>
#include <cstdint>

namespace lab::simt {

struct alignas(8) Float2 {
  float x, y;
};
struct alignas(16) Float4 {
  float x, y, z, w;
};
struct alignas(8) Uint2 {
  std::uint32_t x, y;
};
struct alignas(16) Uint4 {
  std::uint32_t x, y, z, w;
};
struct alignas(16) Int4 {
  int x, y, z, w;
};

inline float fma(float a, float b, float c) {
  return std::fma(a, b, c);
}

inline float own_register(float x) {
  return x;
}
inline float float_of(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
inline std::uint16_t to_bf16(float x) {
  if (std::isnan(x)) return 0x7fff;  // result of cvt.rn.bf16.f32 for every NaN
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t half_to_even = 0x7fff + (bits >> 16 & 1);
  return static_cast<std::uint16_t>((bits + half_to_even) >> 16);
}
inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline std::uint32_t pack_bf16(float low, float high) {
  return static_cast<std::uint32_t>(to_bf16(high)) << 16 | to_bf16(low);
}

// Steps of 2^-10 of the power of two below the value, or of 2^-24 where that is more.
inline std::uint16_t to_fp16(float x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7fff;  // result of cvt.rn.f16.f32 for every NaN
  const float magnitude = std::fabs(x);
  if (magnitude >= 65520) return sign | 0x7c00;
  constexpr int kLeast = -14;  // exponent of the smallest normal number
  const int exponent = magnitude < 0x1p-14F ? kLeast : std::ilogb(magnitude);
  const auto steps = static_cast<std::uint32_t>(std::lrint(std::ldexp(magnitude, 10 - exponent)));
  const std::uint32_t bits = steps + static_cast<std::uint32_t>(exponent - kLeast) * 1024;
  return static_cast<std::uint16_t>(sign | bits);
}
inline float from_fp16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * HUGE_VALF;
  const int steps = exponent == 0 ? fraction : fraction + 1024;
  return sign * std::ldexp(static_cast<float>(steps), (exponent == 0 ? 1 : exponent) - 25);
}
inline std::uint32_t pack_fp16(float low, float high) {
  return static_cast<std::uint32_t>(to_fp16(high)) << 16 | to_fp16(low);
}

// The low 13 bits of a tf32 value are zero.
constexpr std::uint32_t kTf32Bits = ~std::uint32_t{0x1fff};
inline std::uint32_t to_tf32(float x) {
  if (std::isnan(x)) return 0x7fffffff;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits + 0x0fff + (bits >> 13 & 1)) & kTf32Bits;  // ties to even, as from sm_90 on
}

}  // namespace lab::simt
