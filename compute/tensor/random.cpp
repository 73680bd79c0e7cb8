#include "compute/tensor/random.h"

#include <algorithm>
#include <cmath>

#include "compute/core/random_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/tensor/random.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

// Vectorised generation of whole Philox blocks.
HWY_BEFORE_NAMESPACE();
namespace lab::random::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;
using Ints = hn::RebindToSigned<Words>;
using Floats = hn::RebindToFloat<Words>;
using WordVec = hn::Vec<Words>;
using FloatVec = hn::Vec<Floats>;

struct Block {
  WordVec w0, w1, w2, w3;
};

// Upper 32 bits of the product in each lane.
HWY_INLINE WordVec mul_high(WordVec a, WordVec m) {
#if HWY_TARGET == HWY_SCALAR
  const auto product = std::uint64_t{hn::GetLane(a)} * hn::GetLane(m);
  return hn::Set(Words(), static_cast<std::uint32_t>(product >> 32));
#else
  const Words d;
  const hn::Repartition<std::uint64_t, Words> wide;
  const auto even = hn::MulEven(a, m);
  const auto shifted = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a)));
  const auto odd = hn::MulEven(shifted, m);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
#endif
}

// Philox blocks first, first + 1, ..., one per lane.
HWY_INLINE Block philox(const RandomStream& stream, std::uint64_t first) {
  const Words d;
  const auto base = hn::Set(d, static_cast<std::uint32_t>(first));
  const auto low = hn::Add(base, hn::Iota(d, 0));
  const auto high = hn::Set(d, static_cast<std::uint32_t>(first >> 32));
  const auto carry = hn::IfThenElseZero(hn::Lt(low, base), hn::Set(d, 1U));
  Block c{low, hn::Add(high, carry), hn::Set(d, static_cast<std::uint32_t>(stream.stream)),
          hn::Set(d, static_cast<std::uint32_t>(stream.stream >> 32))};
  auto k0 = static_cast<std::uint32_t>(stream.seed);
  auto k1 = static_cast<std::uint32_t>(stream.seed >> 32);
  const auto m0 = hn::Set(d, kMul0), m1 = hn::Set(d, kMul1);
  for (int round = 0; round < kRounds; ++round) {
    const auto high0 = mul_high(c.w0, m0), low0 = hn::Mul(c.w0, m0);
    const auto high1 = mul_high(c.w2, m1), low1 = hn::Mul(c.w2, m1);
    c = {hn::Xor(hn::Xor(high1, c.w1), hn::Set(d, k0)), low1,
         hn::Xor(hn::Xor(high0, c.w3), hn::Set(d, k1)), low0};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

HWY_INLINE FloatVec to_floats(WordVec w) {
  return hn::ConvertTo(Floats(), hn::BitCast(Ints(), w));
}

HWY_INLINE FloatVec uniform(WordVec w) {
  return hn::Mul(to_floats(hn::ShiftRight<8>(w)), hn::Set(Floats(), kUniformScale));
}

// p * s + c, rounded twice.
HWY_INLINE FloatVec step(FloatVec p, FloatVec s, float c) {
  return hn::Add(hn::Mul(p, s), hn::Set(Floats(), c));
}

HWY_INLINE FloatVec log_of(FloatVec u) {
  const Floats f;
  const Words d;
  const Ints i;
  const auto shifted = hn::Add(hn::BitCast(d, u), hn::Set(d, kOneBits - kSqrtHalfBits));
  const auto exponent = hn::BitCast(i, hn::ShiftRight<23>(shifted));
  const auto e = hn::ConvertTo(f, hn::Sub(exponent, hn::Set(i, 127)));
  const auto fraction = hn::And(shifted, hn::Set(d, 0x007FFFFFU));
  const auto m = hn::BitCast(f, hn::Add(fraction, hn::Set(d, kSqrtHalfBits)));
  const auto one = hn::Set(f, 1.0F);
  const auto t = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const auto s = hn::Mul(t, t);
  auto p = step(hn::Set(f, kArtanh9), s, kArtanh7);
  p = step(p, s, kArtanh5);
  p = step(p, s, kArtanh3);
  p = step(p, s, 1.0F);
  return hn::Add(hn::Mul(e, hn::Set(f, kLn2)), hn::Mul(hn::Add(t, t), p));
}

HWY_INLINE FloatVec radius(WordVec w) {
  const Floats f;
  const auto half = hn::Add(to_floats(hn::ShiftRight<1>(w)), hn::Set(f, 0.5F));
  const auto u = hn::Mul(half, hn::Set(f, kRadiusScale));
  return hn::Sqrt(hn::Mul(hn::Set(f, -2.0F), log_of(u)));
}

// Computes both values of a Box-Muller pair.
HWY_INLINE void normal(WordVec w_radius, WordVec w_angle, FloatVec& first, FloatVec& second) {
  const Words d;
  const Floats f;
  const auto quarter = hn::ShiftRight<30>(hn::Add(w_angle, hn::Set(d, kEighthTurn)));
  const auto rest = hn::Sub(w_angle, hn::ShiftLeft<30>(quarter));
  const auto a = hn::Mul(to_floats(rest), hn::Set(f, kAngleScale));
  const auto s = hn::Mul(a, a);
  auto p = step(hn::Set(f, kSin9), s, kSin7);
  p = step(p, s, kSin5);
  p = step(p, s, kSin3);
  p = step(p, s, 1.0F);
  const auto sine = hn::Mul(a, p);
  auto q = step(hn::Set(f, kCos8), s, kCos6);
  q = step(q, s, kCos4);
  q = step(q, s, kCos2);
  q = step(q, s, 1.0F);
  const auto one = hn::Set(d, 1U);
  const auto odd = hn::RebindMask(f, hn::Eq(hn::And(quarter, one), one));
  const auto x = hn::IfThenElse(odd, sine, q), y = hn::IfThenElse(odd, q, sine);
  // Bit 1 of quarter + 1 is the sign of x, bit 1 of quarter that of y; shifted to the top they flip
  // the float's sign.
  const auto two = hn::Set(d, 2U);
  const auto x_sign = hn::ShiftLeft<30>(hn::And(hn::Add(quarter, one), two));
  const auto y_sign = hn::ShiftLeft<30>(hn::And(quarter, two));
  const auto r = radius(w_radius);
  first = hn::Mul(r, hn::Xor(x, hn::BitCast(f, x_sign)));
  second = hn::Mul(r, hn::Xor(y, hn::BitCast(f, y_sign)));
}

// Calls make(block, v0..v3) for each vector of blocks and stores the values in sequence order.
template <typename Make>
HWY_INLINE void for_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n,
                           float* out, Make make) {
  const Floats f;
  const std::uint64_t lanes = hn::Lanes(f);
  HWY_ALIGN float last[4 * hn::MaxLanes(Floats())];
  for (std::uint64_t i = 0; i < n; i += lanes) {
    FloatVec v0, v1, v2, v3;
    make(philox(stream, first + i), v0, v1, v2, v3);
    const bool whole = n - i >= lanes;
    float* to = whole ? out + 4 * i : last;
    hn::StoreInterleaved4(v0, v1, v2, v3, f, to);
    if (!whole) std::copy(last, last + 4 * (n - i), out + 4 * i);
  }
}

void uniform_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n, float* out) {
  for_blocks(stream, first, n, out,
             [](const Block& b, FloatVec& v0, FloatVec& v1, FloatVec& v2, FloatVec& v3) HWY_ATTR {
               v0 = uniform(b.w0);
               v1 = uniform(b.w1);
               v2 = uniform(b.w2);
               v3 = uniform(b.w3);
             });
}

void normal_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n, float* out) {
  for_blocks(stream, first, n, out,
             [](const Block& b, FloatVec& v0, FloatVec& v1, FloatVec& v2, FloatVec& v3) HWY_ATTR {
               normal(b.w0, b.w1, v0, v1);
               normal(b.w2, b.w3, v2, v3);
             });
}

}  // namespace lab::random::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {
namespace random {
namespace {

HWY_EXPORT(uniform_blocks);
HWY_EXPORT(normal_blocks);

// out[4 * i + j] = value 4 * (first + i) + j of the stream, i in [0, n).
void uniform_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(uniform_blocks)(stream, first, n, out);
}

void normal_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(normal_blocks)(stream, first, n, out);
}

}  // namespace
}  // namespace random

namespace {

constexpr std::uint64_t kWords = 4;  // per Philox block

PhiloxCounter block(const RandomStream& s, std::uint64_t index) {
  return random::stream_block(s.seed, s.stream, index);
}

// Fills `out` with the values from index `first` on: whole blocks with `blocks`, ragged ends with
// `one`.
template <typename Blocks, typename One>
void fill(std::span<float> out, std::uint64_t first, Blocks blocks, One one) {
  const auto head = std::min<std::uint64_t>(out.size(), (kWords - first % kWords) % kWords);
  for (std::uint64_t i = 0; i < head; ++i) out[i] = one(first + i);
  const std::uint64_t whole = (out.size() - head) / kWords;
  blocks(out.data() + head, (first + head) / kWords, whole);
  for (std::uint64_t i = head + whole * kWords; i < out.size(); ++i) out[i] = one(first + i);
}

}  // namespace

std::uint32_t RandomStream::bits(std::uint64_t index) const {
  return block(*this, index / kWords)[index % kWords];
}

float RandomStream::uniform(std::uint64_t index) const {
  return random::uniform_of(bits(index));
}

float RandomStream::normal(std::uint64_t index) const {
  const PhiloxCounter words = block(*this, index / kWords);
  const std::size_t pair = index % kWords / 2 * 2;
  const random::Turn angle = random::turn_of(words[pair + 1]);
  return std::sqrt(random::squared_radius(words[pair])) *
         (index % 2 == 0 ? angle.cosine : angle.sine);
}

std::uint32_t RandomStream::below(std::uint64_t index, std::uint32_t n) const {
  return random::below(bits(index), n);
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
#endif  // HWY_ONCE
