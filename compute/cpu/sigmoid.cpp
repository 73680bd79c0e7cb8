#include "compute/cpu/sigmoid.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/sigmoid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "compute/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

void Sigmoid(float* x, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    const auto one = hn::Set(d, 1.0F);
    // exp overflows past 88; beyond that the result is below the smallest normal float anyway.
    const auto e = hn::Exp(d, hn::Min(hn::Neg(v), hn::Set(d, 88.0F)));
    const auto y = hn::Div(one, hn::Add(one, e));
    hn::StoreU(hn::IfThenElse(hn::Eq(v, v), y, v), d, x + i);
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

HWY_EXPORT(Sigmoid);
HWY_EXPORT(SigmoidBackward);

void sigmoid(float* x, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(Sigmoid)(x, n);
}

void sigmoid_backward(const float* y, float* dy, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SigmoidBackward)(y, dy, n);
}

}  // namespace lab::simd
#endif
