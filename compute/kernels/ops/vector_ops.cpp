#include "compute/kernels/ops/vector_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/vector_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

void PixelsToFloats(const std::uint8_t* pixels, float* out, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<std::uint8_t, decltype(d)> bytes;
    const hn::Rebind<std::int32_t, decltype(d)> integers;
    const auto wide = hn::PromoteTo(integers, hn::LoadU(bytes, pixels + i));
    hn::StoreU(hn::Div(hn::ConvertTo(d, wide), hn::Set(d, 255.0F)), d, out + i);
  });
}

// Two arrays are the usual case; this version has no inner loop.
void SumPair(const float* a, const float* b, float* x, float* y, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto sum = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(sum, d, x + i);
    hn::StoreU(sum, d, y + i);
  });
}

void SumArrays(std::span<const float* const> sources, std::span<float* const> targets,
               std::int64_t begin, std::int64_t n) {
  for_lanes(n, [&](auto d, std::int64_t i) HWY_ATTR {
    auto sum = hn::Zero(d);
    if (!sources.empty()) sum = hn::LoadU(d, sources[0] + begin + i);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      sum = hn::Add(sum, hn::LoadU(d, sources[s] + begin + i));
    }
    for (float* target : targets) hn::StoreU(sum, d, target + begin + i);
  });
}

void SumStrided(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n) {
  for_lanes(n, [&](auto tag, std::int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(tag, a + i);
    for (std::int64_t t = 1; t < count; ++t) sum = hn::Add(sum, hn::LoadU(tag, a + t * stride + i));
    hn::StoreU(sum, tag, y + i);
  });
}

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

HWY_EXPORT(PixelsToFloats);
HWY_EXPORT(SumPair);
HWY_EXPORT(SumArrays);
HWY_EXPORT(SumStrided);
HWY_EXPORT(SgdUpdate);

void pixels_to_floats(const std::uint8_t* pixels, float* out, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(PixelsToFloats)(pixels, out, n);
}

void sum_arrays(std::span<const float* const> sources, std::span<float* const> targets,
                std::int64_t begin, std::int64_t end) {
  if (sources.size() == 2 && targets.size() == 2) {
    HWY_DYNAMIC_DISPATCH(SumPair)
    (sources[0] + begin, sources[1] + begin, targets[0] + begin, targets[1] + begin, end - begin);
  } else {
    HWY_DYNAMIC_DISPATCH(SumArrays)(sources, targets, begin, end - begin);
  }
}

void sum_arrays(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SumStrided)(a, count, stride, y, n);
}

void sgd_update(float* w, const float* grad, float* velocity, const SgdArgs& args, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SgdUpdate)(w, grad, velocity, args, n);
}

}  // namespace lab::simd
#endif
