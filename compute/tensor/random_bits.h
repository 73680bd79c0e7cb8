#pragma once
// The arithmetic that one value and whole ranges share. Only operations that IEEE 754 rounds
// exactly (+, -, *, /, sqrt) appear in it, and none may be fused, so that scalar code, every vector
// width and a GPU give the same bits.
#include <cstdint>

namespace lab::random {

inline constexpr std::uint32_t kMul0 = 0xD2511F53U;
inline constexpr std::uint32_t kMul1 = 0xCD9E8D57U;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;  // the golden ratio
inline constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;  // sqrt(3) - 1
inline constexpr int kRounds = 10;

inline constexpr float kUniformScale = 0x1p-24F;

// Box-Muller takes the radius from one word and the angle from the next.
// Radius: u = (w / 2 + 0.5) * 2^-31 in (0, 1], then sqrt(-2 ln u) with
// ln(m * 2^e) = e ln 2 + 2 artanh(t), t = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)).
inline constexpr float kRadiusScale = 0x1p-31F;
inline constexpr std::uint32_t kSqrtHalfBits = 0x3F3504F3U;
inline constexpr std::uint32_t kOneBits = 0x3F800000U;
inline constexpr float kLn2 = 0.6931471805599453F;
inline constexpr float kArtanh3 = 1.0F / 3, kArtanh5 = 1.0F / 5, kArtanh7 = 1.0F / 7,
                       kArtanh9 = 1.0F / 9;

// Angle: w is a turn in units of 2^-32. The nearest quarter turn is taken off in whole numbers; the
// rest, at most an eighth of a turn, goes into the Taylor polynomials of sine and cosine.
inline constexpr std::uint32_t kEighthTurn = 1U << 29;
inline constexpr float kAngleScale = 1.4629180792671596e-09F;  // 2 pi / 2^32
inline constexpr float kSin3 = -1.0F / 6, kSin5 = 1.0F / 120, kSin7 = -1.0F / 5040,
                       kSin9 = 1.0F / 362880;
inline constexpr float kCos2 = -1.0F / 2, kCos4 = 1.0F / 24, kCos6 = -1.0F / 720,
                       kCos8 = 1.0F / 40320;

}  // namespace lab::random
