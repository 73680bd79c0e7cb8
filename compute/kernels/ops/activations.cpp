#include "compute/kernels/ops/activations.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/activations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

void Relu(float* x, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    hn::StoreU(hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v), d, x + i);
  });
}

void ReluBackward(const float* y, float* dy, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto off = hn::Le(hn::LoadU(d, y + i), hn::Zero(d));
    hn::StoreU(hn::IfThenZeroElse(off, hn::LoadU(d, dy + i)), d, dy + i);
  });
}

// Limits v to [-limit, limit]. NaN stays NaN.
template <class D, class V>
HWY_INLINE V Limit(D d, V v, float limit) {
  // x86 returns the second operand if one is NaN; other targets may return the number.
  const V limited = hn::Max(hn::Set(d, -limit), hn::Min(hn::Set(d, limit), v));
  constexpr bool kKeepsNan = HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;
  return kKeepsNan ? limited : hn::IfThenElse(hn::Eq(v, v), limited, v);
}

// 1 + e^-v for v in [-87, 87], within 2 ulp: v = r - n * ln 2, then a polynomial in r,
// |r| <= ln 2 / 2.
template <class D, class V>
HWY_INLINE V OnePlusExpOfNegative(D d, V v) {
  const hn::RebindToSigned<D> integers;
  // Adding and subtracting this constant rounds to an integer. Its bits are zero where those of a
  // float's exponent will be, and it includes the exponent's bias.
  const V round = hn::Set(d, 0x1.8p23F + 127.0F);
  const V rounded = hn::NegMulAdd(v, hn::Set(d, 1.44269504F), round);
  const V n = hn::Sub(rounded, round);
  const V near = hn::MulAdd(n, hn::Set(d, 0x1.62e4p-1F), v);
  const V r = hn::MulAdd(n, hn::Set(d, 0x1.7f7d1cp-20F), near);
  V p = hn::Set(d, 0x1.6d7544p-10F);  // interpolates e^-r at the Chebyshev points
  p = hn::MulAdd(p, r, hn::Set(d, -0x1.126fb8p-7F));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.5554acp-5F));
  p = hn::MulAdd(p, r, hn::Set(d, -0x1.555404p-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5F));
  p = hn::MulAdd(p, r, hn::Set(d, -1.0F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(integers, rounded)));
  return hn::MulAdd(p, power, hn::Set(d, 1.0F));
}

template <class D, class V>
HWY_INLINE V Reciprocal(D d, V v) {
  const V one = hn::Set(d, 1.0F);
  if constexpr (hn::MaxLanes(d) == 16) {
    // 14 accurate bits and one Newton step take half the time of a division.
    const V guess = hn::ApproximateReciprocal(v);
    return hn::MulAdd(guess, hn::NegMulAdd(v, guess, one), guess);
  } else {
    return hn::Div(one, v);
  }
}

void Sigmoid(float* x, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    // Beyond 87 the result is 1, or 1.6e-38 instead of less.
    hn::StoreU(Reciprocal(d, OnePlusExpOfNegative(d, Limit(d, v, 87.0F))), d, x + i);
  });
}

void SigmoidBackward(const float* y, float* dy, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, y + i);
    const auto slope = hn::Mul(v, hn::Sub(hn::Set(d, 1.0F), v));
    hn::StoreU(hn::Mul(hn::LoadU(d, dy + i), slope), d, dy + i);
  });
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(Relu);
HWY_EXPORT(ReluBackward);
HWY_EXPORT(Sigmoid);
HWY_EXPORT(SigmoidBackward);

void relu(float* x, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(Relu)(x, n);
}

void relu_backward(const float* y, float* dy, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(ReluBackward)(y, dy, n);
}

void sigmoid(float* x, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(Sigmoid)(x, n);
}

void sigmoid_backward(const float* y, float* dy, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SigmoidBackward)(y, dy, n);
}

}  // namespace lab::simd
#endif
