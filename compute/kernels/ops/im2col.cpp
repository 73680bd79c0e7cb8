#include "compute/kernels/ops/im2col.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/im2col.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

// One row of one patch: `kernel` pixels from (iy, ix), of which [first, last) are inside the image.
struct Run {
  std::int64_t first, last;
  const float* source;
};

HWY_INLINE Run run_at(const float* image, const ConvShape& s, std::int64_t iy, std::int64_t ix) {
  if (iy < 0 || iy >= s.in_h) return {s.kernel, s.kernel, image};
  const std::int64_t first = std::min(s.kernel, std::max<std::int64_t>(0, -ix));
  const std::int64_t last = std::max(first, std::min(s.kernel, s.in_w - ix));
  return {first, last, image + (iy * s.in_w + ix + first) * s.in_c};
}

// Copies whole vectors, even past the end: the elements overwritten there are written again later.
HWY_INLINE void CopyPast(const float* from, float* to, std::int64_t n) {
  const Wide d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
}

HWY_INLINE void ZeroPast(float* to, std::int64_t n) {
  const Wide d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < n; i += lanes) hn::StoreU(hn::Zero(d), d, to + i);
}

void Im2col(const float* x, float* col, const ConvShape& s, std::int64_t begin, std::int64_t end) {
  const std::int64_t c = s.in_c;
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t image = r / s.out_pixels();
    const std::int64_t pixel = r % s.out_pixels();
    const std::int64_t iy = pixel / s.out_w * s.stride - s.padding;
    const std::int64_t ix = pixel % s.out_w * s.stride - s.padding;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const Run run = run_at(x + image * s.in_size(), s, iy + ky, ix);
      if (run.first > 0) ZeroPast(col, run.first * c);
      CopyPast(run.source, col + run.first * c, (run.last - run.first) * c);
      if (run.last < s.kernel) ZeroPast(col + run.last * c, (s.kernel - run.last) * c);
      col += s.kernel * c;
    }
  }
}

void Col2im(const float* col, float* dx, const ConvShape& s, std::int64_t begin, std::int64_t end) {
  const std::int64_t c = s.in_c;
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t image = r / s.out_pixels();
    const std::int64_t pixel = r % s.out_pixels();
    const std::int64_t iy = pixel / s.out_w * s.stride - s.padding;
    const std::int64_t ix = pixel % s.out_w * s.stride - s.padding;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky, col += s.kernel * c) {
      const Run run = run_at(dx + image * s.in_size(), s, iy + ky, ix);
      float* to = dx + (run.source - dx);
      const float* from = col + run.first * c;
      for_lanes((run.last - run.first) * c, [&](auto d, std::int64_t i) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
      });
    }
  }
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(Im2col);
HWY_EXPORT(Col2im);

void im2col(const float* x, float* col, const ConvShape& shape, std::int64_t begin,
            std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(Im2col)(x, col, shape, begin, end);
}

void col2im(const float* col, float* dx, const ConvShape& shape, std::int64_t begin,
            std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(Col2im)(col, dx, shape, begin, end);
}

}  // namespace lab::simd
#endif
