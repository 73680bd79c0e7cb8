#include "compute/kernels/ops/relu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/relu.cpp"
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

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(Relu);
HWY_EXPORT(ReluBackward);

void relu(float* x, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(Relu)(x, n);
}

void relu_backward(const float* y, float* dy, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(ReluBackward)(y, dy, n);
}

}  // namespace lab::simd
#endif
