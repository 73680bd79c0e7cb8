#include "compute/kernels/ops/pixels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/pixels.cpp"
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

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(PixelsToFloats);

void pixels_to_floats(const std::uint8_t* pixels, float* out, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(PixelsToFloats)(pixels, out, n);
}

}  // namespace lab::simd
#endif
