#include "compute/tensor/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compute/tensor/random_bits.h"
#include "compute/tensor/random_fill.h"

namespace lab {
namespace {

using random::kMul0, random::kMul1;

constexpr std::uint64_t kWords = 4;  // of one Philox block

std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

PhiloxCounter block(const RandomStream& s, std::uint64_t index) {
  return philox4x32({low(index), high(index), low(s.stream), high(s.stream)},
                    {low(s.seed), high(s.seed)});
}

float log_of(float u) {
  const auto bits = std::bit_cast<std::uint32_t>(u);
  const std::uint32_t shifted = bits + (random::kOneBits - random::kSqrtHalfBits);
  const float e = static_cast<float>(static_cast<std::int32_t>(shifted >> 23) - 127);
  const float m = std::bit_cast<float>((shifted & 0x007FFFFFU) + random::kSqrtHalfBits);
  const float t = (m - 1.0F) / (m + 1.0F);
  const float s = t * t;
  float p = random::kArtanh9 * s + random::kArtanh7;
  p = p * s + random::kArtanh5;
  p = p * s + random::kArtanh3;
  p = p * s + 1.0F;
  return e * random::kLn2 + (t + t) * p;
}

float radius(std::uint32_t w) {
  const float u =
      (static_cast<float>(static_cast<std::int32_t>(w >> 1)) + 0.5F) * random::kRadiusScale;
  return std::sqrt(-2.0F * log_of(u));
}

struct SinCos {
  float sin, cos;
};

SinCos turn(std::uint32_t w) {
  const std::uint32_t quarter = (w + random::kEighthTurn) >> 30;
  const auto rest = static_cast<std::int32_t>(w - (quarter << 30));
  const float a = static_cast<float>(rest) * random::kAngleScale;
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
  const float x = odd ? sine : q, y = odd ? q : sine;
  return {(quarter & 2U) != 0 ? -y : y, ((quarter + 1) & 2U) != 0 ? -x : x};
}

// Fills out[0..] from `first` on: whole blocks by `blocks`, ragged ends by `one`.
template <typename Blocks, typename One>
void fill(std::span<float> out, std::uint64_t first, Blocks blocks, One one) {
  const auto head = std::min<std::uint64_t>(out.size(), (kWords - first % kWords) % kWords);
  for (std::uint64_t i = 0; i < head; ++i) out[i] = one(first + i);
  const std::uint64_t whole = (out.size() - head) / kWords;
  blocks(out.data() + head, (first + head) / kWords, whole);
  for (std::uint64_t i = head + whole * kWords; i < out.size(); ++i) out[i] = one(first + i);
}

}  // namespace

PhiloxCounter philox4x32(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < random::kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMul0} * c[0];
    const std::uint64_t p1 = std::uint64_t{kMul1} * c[2];
    c = {high(p1) ^ c[1] ^ k[0], low(p1), high(p0) ^ c[3] ^ k[1], low(p0)};
    k = {k[0] + random::kWeyl0, k[1] + random::kWeyl1};
  }
  return c;
}

std::uint32_t RandomStream::bits(std::uint64_t index) const {
  return block(*this, index / kWords)[index % kWords];
}

float RandomStream::uniform(std::uint64_t index) const {
  return static_cast<float>(static_cast<std::int32_t>(bits(index) >> 8)) * random::kUniformScale;
}

float RandomStream::normal(std::uint64_t index) const {
  const PhiloxCounter words = block(*this, index / kWords);
  const std::size_t pair = index % kWords / 2 * 2;
  const SinCos angle = turn(words[pair + 1]);
  return radius(words[pair]) * (index % 2 == 0 ? angle.cos : angle.sin);
}

std::uint32_t RandomStream::below(std::uint64_t index, std::uint32_t n) const {
  return high(std::uint64_t{bits(index)} * n);
}

void RandomStream::fill_uniform(std::span<float> out, std::uint64_t first) const {
  fill(
      out, first,
      [this](float* to, std::uint64_t b, std::uint64_t n) {
        random::uniform_blocks(*this, b, n, to);
      },
      [this](std::uint64_t i) { return uniform(i); });
}

void RandomStream::fill_normal(std::span<float> out, std::uint64_t first) const {
  fill(
      out, first,
      [this](float* to, std::uint64_t b, std::uint64_t n) {
        random::normal_blocks(*this, b, n, to);
      },
      [this](std::uint64_t i) { return normal(i); });
}

}  // namespace lab
