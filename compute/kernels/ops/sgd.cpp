#include "compute/kernels/ops/sgd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/sgd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

void SgdUpdate(float* w, const float* grad, float* velocity, const SgdArgs& args, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto weight = hn::LoadU(d, w + i);
    auto step = hn::MulAdd(hn::Set(d, args.weight_decay), weight, hn::LoadU(d, grad + i));
    if (velocity != nullptr) {
      if (!args.first) {
        step = hn::MulAdd(hn::Set(d, args.momentum), hn::LoadU(d, velocity + i), step);
      }
      hn::StoreU(step, d, velocity + i);
    }
    hn::StoreU(hn::NegMulAdd(hn::Set(d, args.lr), step, weight), d, w + i);
  });
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(SgdUpdate);

void sgd_update(float* w, const float* grad, float* velocity, const SgdArgs& args, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SgdUpdate)(w, grad, velocity, args, n);
}

}  // namespace lab::simd
#endif
