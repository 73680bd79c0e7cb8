#include "compute/cpu/average_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/average_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

void PoolWindow(const float* x, float* y, const PoolShape& s) {
  const float share = 1.0F / static_cast<float>(s.kernel_h * s.kernel_w);
  for_lanes(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::int64_t ky = 0; ky < s.kernel_h; ++ky) {
      const float* row = x + ky * s.in_w * s.channels + c;
      for (std::int64_t kx = 0; kx < s.kernel_w; ++kx) {
        sum = hn::Add(sum, hn::LoadU(d, row + kx * s.channels));
      }
    }
    hn::StoreU(hn::Mul(sum, hn::Set(d, share)), d, y + c);
  });
}

void SpreadWindow(const float* dy, float* dx, const PoolShape& s) {
  const float share = 1.0F / static_cast<float>(s.kernel_h * s.kernel_w);
  for_lanes(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
    const auto part = hn::Mul(hn::LoadU(d, dy + c), hn::Set(d, share));
    for (std::int64_t ky = 0; ky < s.kernel_h; ++ky) {
      float* row = dx + ky * s.in_w * s.channels + c;
      for (std::int64_t kx = 0; kx < s.kernel_w; ++kx) {
        float* to = row + kx * s.channels;
        hn::StoreU(hn::Add(hn::LoadU(d, to), part), d, to);
      }
    }
  });
}

void AveragePool(const float* x, float* y, const PoolShape& s, std::int64_t images) {
  const std::int64_t out_h = s.out_h(), out_w = s.out_w();
  for (std::int64_t n = 0; n < images; ++n, x += s.in_size()) {
    for (std::int64_t oy = 0; oy < out_h; ++oy) {
      const float* row = x + oy * s.stride * s.in_w * s.channels;
      for (std::int64_t ox = 0; ox < out_w; ++ox, y += s.channels) {
        PoolWindow(row + ox * s.stride * s.channels, y, s);
      }
    }
  }
}

void AveragePoolBackward(const float* dy, float* dx, const PoolShape& s, std::int64_t images) {
  const std::int64_t out_h = s.out_h(), out_w = s.out_w();
  for (std::int64_t n = 0; n < images; ++n, dx += s.in_size()) {
    for (std::int64_t oy = 0; oy < out_h; ++oy) {
      float* row = dx + oy * s.stride * s.in_w * s.channels;
      for (std::int64_t ox = 0; ox < out_w; ++ox, dy += s.channels) {
        SpreadWindow(dy, row + ox * s.stride * s.channels, s);
      }
    }
  }
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(AveragePool);
HWY_EXPORT(AveragePoolBackward);

void average_pool(const float* x, float* y, const PoolShape& shape, std::int64_t images) {
  HWY_DYNAMIC_DISPATCH(AveragePool)(x, y, shape, images);
}

void average_pool_backward(const float* dy, float* dx, const PoolShape& shape,
                           std::int64_t images) {
  HWY_DYNAMIC_DISPATCH(AveragePoolBackward)(dy, dx, shape, images);
}

}  // namespace lab::simd
#endif
