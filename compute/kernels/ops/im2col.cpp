#include "compute/kernels/ops/im2col.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/im2col.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "compute/kernels/ops/lanes-inl.h"
#include "compute/kernels/ops/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

// A patch, by its output pixel.
struct Patch {
  Patch(const ConvShape& s, std::int64_t r)
      : shape(s),
        image(r / s.out_pixels()),
        y(r % s.out_pixels() / s.out_w),
        x(r % s.out_pixels() % s.out_w) {}
  HWY_INLINE void next() {
    if (++x < shape.out_w) return;
    x = 0;
    if (++y < shape.out_h) return;
    y = 0;
    ++image;
  }
  // The pixel of the image where it begins, possibly outside.
  std::int64_t in_y() const { return y * shape.stride - shape.padding; }
  std::int64_t in_x() const { return x * shape.stride - shape.padding; }

  const ConvShape& shape;
  std::int64_t image, y, x;
};

// One row of a patch: `kernel` pixels, of which [first, last) are inside the image.
struct Run {
  std::int64_t first, last;
  const float* source;
};

HWY_INLINE Run run_of(const float* images, const Patch& patch, std::int64_t ky) {
  const ConvShape& s = patch.shape;
  const float* image = images + patch.image * s.in_size();
  const std::int64_t iy = patch.in_y() + ky, ix = patch.in_x();
  if (iy < 0 || iy >= s.in_h) return {s.kernel, s.kernel, image};
  const std::int64_t first = std::min(s.kernel, std::max<std::int64_t>(0, -ix));
  const std::int64_t last = std::max(first, std::min(s.kernel, s.in_w - ix));
  return {first, last, image + (iy * s.in_w + ix + first) * s.in_c};
}

// Prefetches the pixels that are in no patch before this one. The addresses may be outside the
// images.
HWY_INLINE void PrefetchEnd(const float* images, const Patch& patch) {
  const ConvShape& s = patch.shape;
  const std::int64_t skipped = s.kernel - s.stride, row = s.in_w * s.in_c;
  const std::uintptr_t first =
      reinterpret_cast<std::uintptr_t>(images) +
      sizeof(float) * (patch.image * s.in_size() + (patch.in_y() + skipped) * row +
                       (patch.in_x() + skipped) * s.in_c);
  for (std::int64_t ky = 0; ky < s.stride; ++ky) {
    for (std::int64_t i = 0; i < s.stride * s.in_c; i += kLineFloats) {
      prefetch_address(first + sizeof(float) * (ky * row + i));
    }
  }
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
  constexpr std::int64_t kAhead = 4, kFewestChannels = 16;
  const std::int64_t c = s.in_c;
  // Patches that overlap have several rows, which no hardware prefetcher follows.
  const bool prefetches = s.kernel > s.stride && c >= kFewestChannels;
  Patch patch(s, begin), ahead(s, begin + kAhead);
  for (std::int64_t r = begin; r < end; ++r, patch.next()) {
    if (prefetches) {
      PrefetchEnd(x, ahead);
      ahead.next();
    }
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      const Run run = run_of(x, patch, ky);
      if (run.first > 0) ZeroPast(col, run.first * c);
      CopyPast(run.source, col + run.first * c, (run.last - run.first) * c);
      if (run.last < s.kernel) ZeroPast(col + run.last * c, (s.kernel - run.last) * c);
      col += s.kernel * c;
    }
  }
}

void Col2im(const float* col, float* dx, const ConvShape& s, std::int64_t begin, std::int64_t end) {
  const std::int64_t c = s.in_c;
  Patch patch(s, begin);
  for (std::int64_t r = begin; r < end; ++r, patch.next()) {
    for (std::int64_t ky = 0; ky < s.kernel; ++ky, col += s.kernel * c) {
      const Run run = run_of(dx, patch, ky);
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
