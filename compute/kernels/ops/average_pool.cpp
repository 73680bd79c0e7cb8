#include "compute/kernels/ops/average_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/average_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "compute/kernels/ops/activations.h"
#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

// Ways to iterate over the channels of a pixel: exactly, or as a single vector that is at least as
// wide. Elements that a wide store writes past the pixel belong to later pixels, which are written
// afterwards. Pixels must therefore be processed in address order, and no wide store may cross the
// end of the array.
struct Exactly {
  template <class Body>
  HWY_INLINE void operator()(std::int64_t channels, const Body& body) const {
    for_lanes(channels, body);
  }
};
template <std::size_t kLanes>
struct AsOneVector {
  template <class Body>
  HWY_INLINE void operator()(std::int64_t /*channels*/, const Body& body) const {
    body(hn::CappedTag<float, kLanes>(), std::int64_t{0});
  }
};

// True if this target has vectors of exactly kLanes floats.
template <std::size_t kLanes>
constexpr bool has_vectors() {
  return hn::MaxLanes(hn::CappedTag<float, kLanes>()) == kLanes;
}

// Calls image(channels, n) for each image: with wide vectors for all but the last, since the memory
// past the last image may belong to another owner.
template <class Image>
HWY_INLINE void for_images(const PoolShape& s, std::int64_t images, const Image& image) {
  constexpr std::int64_t kWidest = 16;
  const std::int64_t wide = std::min(s.in_size(), s.out_size()) >= kWidest ? images - 1 : 0;
  std::int64_t n = 0;
  if (has_vectors<4>() && s.channels <= 4) {
    for (; n < wide; ++n) image(AsOneVector<4>(), n);
  } else if (has_vectors<8>() && s.channels <= 8) {
    for (; n < wide; ++n) image(AsOneVector<8>(), n);
  } else if (has_vectors<16>() && s.channels <= 16) {
    for (; n < wide; ++n) image(AsOneVector<16>(), n);
  }
  for (; n < images; ++n) image(Exactly(), n);
}

// kWindow: height and width if known at compile time, otherwise 0.
template <int kWindow, class Channels>
HWY_INLINE void PoolWindow(const Channels& channels, const float* x, float* y, const PoolShape& s) {
  const std::int64_t height = kWindow > 0 ? kWindow : s.kernel_h;
  const std::int64_t width = kWindow > 0 ? kWindow : s.kernel_w;
  const float share = 1.0F / static_cast<float>(height * width);
  channels(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::int64_t ky = 0; ky < height; ++ky) {
      const float* row = x + ky * s.in_w * s.channels + c;
      for (std::int64_t kx = 0; kx < width; ++kx) {
        sum = hn::Add(sum, hn::LoadU(d, row + kx * s.channels));
      }
    }
    hn::StoreU(hn::Mul(sum, hn::Set(d, share)), d, y + c);
  });
}

template <int kWindow, class Channels>
HWY_INLINE void PoolImage(const Channels& channels, const float* x, float* y, const PoolShape& s) {
  const std::int64_t out_h = s.out_h(), out_w = s.out_w();
  for (std::int64_t oy = 0; oy < out_h; ++oy) {
    const float* row = x + oy * s.stride * s.in_w * s.channels;
    for (std::int64_t ox = 0; ox < out_w; ++ox, y += s.channels) {
      PoolWindow<kWindow>(channels, row + ox * s.stride * s.channels, y, s);
    }
  }
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

// What a gradient is multiplied by at element i of an image: nothing, or the slope of the logistic
// function of which `y` is the output.
struct NoSlope {
  template <class D, class V>
  HWY_INLINE V operator()(D /*d*/, V gradient, std::int64_t /*i*/) const {
    return gradient;
  }
};
struct SigmoidSlope {
  const float* y;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, std::int64_t i) const {
    const V v = hn::LoadU(d, y + i);
    return hn::Mul(gradient, hn::Mul(v, hn::Sub(hn::Set(d, 1.0F), v)));
  }
};

// For windows that tile the image: writes every pixel, in address order.
template <int kWindow, class Channels, class Slope>
HWY_INLINE void FillImage(const Channels& channels, const float* dy, float* dx, const PoolShape& s,
                          const Slope& slope) {
  const std::int64_t width = kWindow > 0 ? kWindow : s.stride;
  const float share = 1.0F / static_cast<float>(s.kernel_h * s.kernel_w);
  const std::int64_t out_w = s.out_w();
  std::int64_t pixel = 0;
  for (std::int64_t iy = 0; iy < s.in_h; ++iy) {
    const float* row = dy + iy / s.stride * out_w * s.channels;
    for (std::int64_t ox = 0; ox < out_w; ++ox, pixel += width * s.channels) {
      channels(s.channels, [&](auto d, std::int64_t c) HWY_ATTR {
        const auto part = hn::Mul(hn::LoadU(d, row + ox * s.channels + c), hn::Set(d, share));
        for (std::int64_t kx = 0; kx < width; ++kx) {
          const std::int64_t at = pixel + kx * s.channels + c;
          hn::StoreU(slope(d, part, at), d, dx + at);
        }
      });
    }
  }
}

// `slope(n)` is that of image n.
template <class SlopeOf>
HWY_INLINE void FillImages(const float* dy, float* dx, const PoolShape& s, std::int64_t images,
                           const SlopeOf& slope) {
  for_images(s, images, [&](const auto& channels, std::int64_t n) HWY_ATTR {
    if (s.stride == 2) {
      FillImage<2>(channels, dy + n * s.out_size(), dx + n * s.in_size(), s, slope(n));
    } else {
      FillImage<0>(channels, dy + n * s.out_size(), dx + n * s.in_size(), s, slope(n));
    }
  });
}

void AveragePool(const float* x, float* y, const PoolShape& s, std::int64_t images) {
  for_images(s, images, [&](const auto& channels, std::int64_t n) HWY_ATTR {
    if (s.kernel_h == 2 && s.kernel_w == 2) {
      PoolImage<2>(channels, x + n * s.in_size(), y + n * s.out_size(), s);
    } else {
      PoolImage<0>(channels, x + n * s.in_size(), y + n * s.out_size(), s);
    }
  });
}

void AddSpread(const float* dy, float* dx, const PoolShape& s, std::int64_t images) {
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

void AveragePoolBackward(const float* dy, float* dx, const PoolShape& s, std::int64_t images,
                         bool accumulate) {
  if (!accumulate && s.tiles_the_image()) {
    FillImages(dy, dx, s, images, [](std::int64_t /*n*/) HWY_ATTR { return NoSlope(); });
    return;
  }
  if (!accumulate) std::fill_n(dx, images * s.in_size(), 0.0F);
  AddSpread(dy, dx, s, images);
}

void SigmoidPoolBackward(const float* y, const float* dy, float* dx, const PoolShape& s,
                         std::int64_t images) {
  FillImages(dy, dx, s, images,
             [&](std::int64_t n) HWY_ATTR { return SigmoidSlope{y + n * s.in_size()}; });
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(AveragePool);
HWY_EXPORT(AveragePoolBackward);
HWY_EXPORT(SigmoidPoolBackward);

void average_pool(const float* x, float* y, const PoolShape& shape, std::int64_t images) {
  HWY_DYNAMIC_DISPATCH(AveragePool)(x, y, shape, images);
}

void average_pool_backward(const float* dy, float* dx, const PoolShape& shape, std::int64_t images,
                           bool accumulate) {
  HWY_DYNAMIC_DISPATCH(AveragePoolBackward)(dy, dx, shape, images, accumulate);
}

void sigmoid_average_pool_backward(const float* y, const float* dy, float* dx,
                                   const PoolShape& shape, std::int64_t images) {
  if (shape.tiles_the_image()) {
    HWY_DYNAMIC_DISPATCH(SigmoidPoolBackward)(y, dy, dx, shape, images);
    return;
  }
  average_pool_backward(dy, dx, shape, images, /*accumulate=*/false);
  sigmoid_backward(y, dx, images * shape.in_size());
}

}  // namespace lab::simd
#endif
