#include "compute/kernels/ops/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/kernels/ops/prefetch.h"
#include "compute/kernels/ops/round_bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kWinogradChannels>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = hn::MaxLanes(D());

HWY_INLINE V Times(float factor, V v) {
  return hn::Mul(hn::Set(D(), factor), v);
}
// factor * v + w
HWY_INLINE V TimesPlus(float factor, V v, V w) {
  return hn::MulAdd(hn::Set(D(), factor), v, w);
}

// One-dimensional transforms. Each reads all of its input before it writes.
template <int kOutputs>
struct Filter;

template <>
struct Filter<2> {
  static HWY_INLINE void Input(const V* v, V* t) {
    t[0] = hn::Sub(v[0], v[2]);
    t[1] = hn::Add(v[1], v[2]);
    t[2] = hn::Sub(v[2], v[1]);
    t[3] = hn::Sub(v[1], v[3]);
  }
  static HWY_INLINE void Output(const V* v, V* y) {
    y[0] = hn::Add(v[0], hn::Add(v[1], v[2]));
    y[1] = hn::Sub(hn::Sub(v[1], v[2]), v[3]);
  }
  static HWY_INLINE void OutputGradient(const V* y, V* t) {
    t[0] = y[0];
    t[1] = hn::Add(y[0], y[1]);
    t[2] = hn::Sub(y[0], y[1]);
    t[3] = hn::Neg(y[1]);
  }
  static HWY_INLINE void Kernel(const V* g, V* t) {
    const V even = Times(0.5F, hn::Add(g[0], g[2]));
    t[0] = g[0];
    t[1] = TimesPlus(0.5F, g[1], even);
    t[2] = TimesPlus(-0.5F, g[1], even);
    t[3] = g[2];
  }
  static HWY_INLINE void KernelGradient(const V* t, V* g) {
    const V even = Times(0.5F, hn::Add(t[1], t[2]));
    g[0] = hn::Add(t[0], even);
    g[1] = Times(0.5F, hn::Sub(t[1], t[2]));
    g[2] = hn::Add(even, t[3]);
  }
};

template <>
struct Filter<4> {
  static constexpr float a = 0.625F, b = 1.5F;
  static constexpr float a2 = a * a, b2 = b * b, a3 = a2 * a, b3 = b2 * b;
  static constexpr float product = a2 * b2, sum = a2 + b2;
  static constexpr float kernel_0 = static_cast<float>(1.0 / product);
  static constexpr float kernel_a = static_cast<float>(1.0 / (2.0 * a2 * (a2 - b2)));
  static constexpr float kernel_b = static_cast<float>(1.0 / (2.0 * b2 * (b2 - a2)));

  static HWY_INLINE void Input(const V* v, V* t) {
    const V even_a = TimesPlus(-b2, v[2], v[4]);
    const V odd_a = Times(a, TimesPlus(-b2, v[1], v[3]));
    const V even_b = TimesPlus(-a2, v[2], v[4]);
    const V odd_b = Times(b, TimesPlus(-a2, v[1], v[3]));
    t[0] = TimesPlus(product, v[0], TimesPlus(-sum, v[2], v[4]));
    t[5] = TimesPlus(product, v[1], TimesPlus(-sum, v[3], v[5]));
    t[1] = hn::Add(even_a, odd_a);
    t[2] = hn::Sub(even_a, odd_a);
    t[3] = hn::Add(even_b, odd_b);
    t[4] = hn::Sub(even_b, odd_b);
  }
  static HWY_INLINE void Output(const V* v, V* y) {
    const V even_a = hn::Add(v[1], v[2]), odd_a = hn::Sub(v[1], v[2]);
    const V even_b = hn::Add(v[3], v[4]), odd_b = hn::Sub(v[3], v[4]);
    y[0] = hn::Add(v[0], hn::Add(even_a, even_b));
    y[1] = TimesPlus(a, odd_a, Times(b, odd_b));
    y[2] = TimesPlus(a2, even_a, Times(b2, even_b));
    y[3] = TimesPlus(a3, odd_a, TimesPlus(b3, odd_b, v[5]));
  }
  static HWY_INLINE void OutputGradient(const V* y, V* t) {
    const V even_a = TimesPlus(a2, y[2], y[0]), odd_a = TimesPlus(a3, y[3], Times(a, y[1]));
    const V even_b = TimesPlus(b2, y[2], y[0]), odd_b = TimesPlus(b3, y[3], Times(b, y[1]));
    t[0] = y[0];
    t[1] = hn::Add(even_a, odd_a);
    t[2] = hn::Sub(even_a, odd_a);
    t[3] = hn::Add(even_b, odd_b);
    t[4] = hn::Sub(even_b, odd_b);
    t[5] = y[3];
  }
  static HWY_INLINE void Kernel(const V* g, V* t) {
    const V even_a = Times(kernel_a, TimesPlus(a2, g[2], g[0])), odd_a = Times(kernel_a * a, g[1]);
    const V even_b = Times(kernel_b, TimesPlus(b2, g[2], g[0])), odd_b = Times(kernel_b * b, g[1]);
    t[0] = Times(kernel_0, g[0]);
    t[1] = hn::Add(even_a, odd_a);
    t[2] = hn::Sub(even_a, odd_a);
    t[3] = hn::Add(even_b, odd_b);
    t[4] = hn::Sub(even_b, odd_b);
    t[5] = g[2];
  }
  static HWY_INLINE void KernelGradient(const V* t, V* g) {
    const V even_a = Times(kernel_a, hn::Add(t[1], t[2]));
    const V odd_a = Times(kernel_a * a, hn::Sub(t[1], t[2]));
    const V even_b = Times(kernel_b, hn::Add(t[3], t[4]));
    const V odd_b = Times(kernel_b * b, hn::Sub(t[3], t[4]));
    g[0] = TimesPlus(kernel_0, t[0], hn::Add(even_a, even_b));
    g[1] = hn::Add(odd_a, odd_b);
    g[2] = TimesPlus(a2, even_a, TimesPlus(b2, even_b, t[5]));
  }
};

// Transforms the columns, then the rows: load(i, j) of kIn x kIn, store(i, j, v) of kOut x kOut.
template <int kIn, int kOut, class Transform, class Load, class Store>
HWY_INLINE void Transform2D(const Transform& transform, const Load& load, const Store& store) {
  V half[kOut][kIn];
#pragma GCC unroll 8
  for (int j = 0; j < kIn; ++j) {
    V in[kIn], out[kOut];
#pragma GCC unroll 8
    for (int i = 0; i < kIn; ++i) in[i] = load(i, j);
    transform(in, out);
#pragma GCC unroll 8
    for (int i = 0; i < kOut; ++i) half[i][j] = out[i];
  }
#pragma GCC unroll 8
  for (int i = 0; i < kOut; ++i) {
    V out[kOut];
    transform(half[i], out);
#pragma GCC unroll 8
    for (int j = 0; j < kOut; ++j) store(i, j, out[j]);
  }
}

// Writes a vector of a row to its `offset` within a point.
template <PointForm kForm>
HWY_INLINE void Write(V v, float* point, std::int64_t offset) {
  const D d;
  if constexpr (kForm == PointForm::F32) {
    hn::StoreU(v, d, point + offset);
  } else if constexpr (kForm == PointForm::RoundedF32) {
    hn::StoreU(hn::BitCast(d, lab::HWY_NAMESPACE::RoundBits(v)), d, point + offset);
  } else {
    hn::StoreU(lab::HWY_NAMESPACE::NativeBf16(v), hn::Rebind<std::uint16_t, D>(),
               reinterpret_cast<std::uint16_t*>(point) + offset);
  }
}

// Calls body(c, offset) for each vector of channels; `offset` is its position within a point.
template <class Body>
HWY_INLINE void ForChannels(std::int64_t channels, const PointArray& points, std::int64_t row,
                            const Body& body) {
  if (points.form == PointForm::Bf16RowPairs) row /= 2;
  for (std::int64_t first = 0; first < channels; first += points.strip) {
    const std::int64_t end = first + points.strip < channels ? first + points.strip : channels;
    const std::int64_t at = first / points.strip * points.strip_stride + row * points.strip;
    for (std::int64_t c = first; c < end; c += kLanes) body(c, at + c - first);
  }
}

// Transforms `count` rows of channels, or half as many pairs of rows. rows(r) gives the kIn x kIn
// values load(i, j, c) of row r, and prefetch(c) for a later row. Tiles after the last one are
// zeros.
template <PointForm kForm, int kIn, int kOut, class Transform, class Rows>
HWY_INLINE void TransformRows(const Transform& transform, const Rows& rows, std::int64_t count,
                              const PointArray& to, std::int64_t row) {
  const auto of_row = [&](const auto& from, std::int64_t c, const auto& store) HWY_ATTR {
    Transform2D<kIn, kOut>(
        transform, [&](int i, int j) HWY_ATTR { return from.load(i, j, c); }, store);
    from.prefetch(c);
  };
  const auto point = [&](int i, int j) { return to.data + (i * kOut + j) * to.point_stride; };
  if constexpr (kForm == PointForm::Bf16RowPairs) {
    for (std::int64_t r = 0; r < count; r += 2) {
      const auto even = rows(r), odd = rows(r + 1);
      ForChannels(rows.channels(), to, row + r, [&](std::int64_t c, std::int64_t offset) HWY_ATTR {
        V first[kOut][kOut];
        of_row(even, c, [&](int i, int j, V v) HWY_ATTR { first[i][j] = v; });
        of_row(odd, c, [&](int i, int j, V v) HWY_ATTR {
          hn::StoreU(lab::HWY_NAMESPACE::PairBf16(first[i][j], v), hn::RebindToUnsigned<D>(),
                     reinterpret_cast<std::uint32_t*>(point(i, j)) + offset);
        });
      });
    }
  } else {
    for (std::int64_t r = 0; r < count; ++r) {
      const auto from = rows(r);
      ForChannels(rows.channels(), to, row + r, [&](std::int64_t c, std::int64_t offset) HWY_ATTR {
        of_row(from, c, [&](int i, int j, V v) HWY_ATTR { Write<kForm>(v, point(i, j), offset); });
      });
    }
  }
}

// Where a tile begins in its image.
template <int kStep>
struct TileCorner {
  std::int64_t image, top, left;
  TileCorner(const TileGrid& grid, std::int64_t tile)
      : image(tile / grid.in_image),
        top(tile % grid.in_image / grid.in_row * kStep - grid.margin),
        left(tile % grid.in_image % grid.in_row * kStep - grid.margin) {}
};

// The pixels of a tile of kSize x kSize pixels, null outside the image.
template <int kSize, int kStep, class Float>
struct Window {
  Float* pixel[kSize][kSize] = {};

  Window() = default;
  Window(Float* images, const TileGrid& grid, std::int64_t tile) {
    const TileCorner<kStep> at(grid, tile);
    Float* const image = images + at.image * grid.height * grid.width * grid.pixel_stride;
    for (int i = 0; i < kSize; ++i) {
      for (int j = 0; j < kSize; ++j) {
        const std::int64_t y = at.top + i, x = at.left + j;
        const bool inside = y >= 0 && y < grid.height && x >= 0 && x < grid.width;
        if (inside) pixel[i][j] = image + (y * grid.width + x) * grid.pixel_stride;
      }
    }
  }
};

// Prefetches the last kStep x kStep pixels of a tile of kSize x kSize pixels; the others belong to
// tiles before it, too. The hardware's prefetchers do not follow tiles.
template <int kSize, int kStep>
class Prefetch {
 public:
  Prefetch(const float* images, const TileGrid& grid, std::int64_t tile)
      : line_(grid.width * grid.pixel_stride), pixel_(grid.pixel_stride) {
    const TileCorner<kStep> at(grid, tile);
    constexpr int kSkipped = kSize - kStep;
    first_ = reinterpret_cast<std::uintptr_t>(images) +
             sizeof(float) * ((at.image * grid.height + at.top + kSkipped) * line_ +
                              (at.left + kSkipped) * pixel_);
  }
  // Called for each vector of channels from c on. A pixel is taken to begin with a cache line. The
  // addresses may be outside the images.
  HWY_INLINE void operator()(std::int64_t c) const {
    if (c % kLineFloats != 0) return;
#pragma GCC unroll 4
    for (int i = 0; i < kStep; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kStep; ++j) {
        prefetch_address(first_ + sizeof(float) * (i * line_ + j * pixel_ + c));
      }
    }
  }

 private:
  std::uintptr_t first_;
  std::int64_t line_, pixel_;  // floats
};

// Tiles of kSize x kSize pixels as rows.
template <int kSize, int kStep>
struct TileRows {
  const float* images;
  const TileGrid& grid;
  std::int64_t first, count;

  struct Row {
    Window<kSize, kStep, const float> window;
    Prefetch<kSize, kStep> prefetch;
    HWY_INLINE V load(int i, int j, std::int64_t c) const {
      const D d;
      const float* const pixel = window.pixel[i][j];
      return pixel == nullptr ? hn::Zero(d) : hn::LoadU(d, pixel + c);
    }
  };
  std::int64_t channels() const { return grid.channels; }
  Row operator()(std::int64_t r) const {
    constexpr std::int64_t kAhead = 2;  // tiles, and so the next pair
    const Prefetch<kSize, kStep> prefetch(images, grid, first + r + kAhead);
    if (r >= count) return {{}, prefetch};
    return {{images, grid, first + r}, prefetch};
  }
};

// Kernels as rows. Those of a later row are prefetched if kPrefetches.
template <bool kPrefetches>
struct KernelsAsRows {
  const KernelRows& kernels;

  std::int64_t channels() const { return kernels.channels; }
  struct Row {
    const float* first_tap;
    std::int64_t tap_stride, row_stride;
    HWY_INLINE V load(int i, int j, std::int64_t c) const {
      return hn::LoadU(D(), first_tap + (i * 3 + j) * tap_stride + c);
    }
    HWY_INLINE void prefetch(std::int64_t c) const {
      if (kPrefetches && c % kLineFloats == 0) prefetch_taps(c);
    }
    HWY_INLINE void prefetch_taps(std::int64_t c) const {
      constexpr std::int64_t kAhead = 4;
      std::uintptr_t address =
          reinterpret_cast<std::uintptr_t>(first_tap) + sizeof(float) * (kAhead * row_stride + c);
      // Unrolled, it would take the registers of nine addresses.
#pragma GCC unroll 1
      for (int tap = 0; tap < 9; ++tap) {
        prefetch_address(address);
        address += sizeof(float) * tap_stride;
      }
    }
  };
  Row operator()(std::int64_t r) const {
    const float* const kernel = kernels.data + r * kernels.row_stride;
    if (!kernels.rotated) return {kernel, kernels.tap_stride, kernels.row_stride};
    return {kernel + 8 * kernels.tap_stride, -kernels.tap_stride, kernels.row_stride};
  }
};

// Calls body.operator()<kForm>() for the form of the points, of which kChannelPairs says whether it
// may be that.
template <bool kChannelPairs, class Body>
HWY_INLINE void WithForm(PointForm form, const Body& body) {
  switch (form) {
    case PointForm::F32: return body.template operator()<PointForm::F32>();
    case PointForm::RoundedF32: return body.template operator()<PointForm::RoundedF32>();
    case PointForm::Bf16RowPairs: return body.template operator()<PointForm::Bf16RowPairs>();
    case PointForm::Bf16ChannelPairs:
      if constexpr (kChannelPairs) body.template operator()<PointForm::Bf16ChannelPairs>();
  }
}

template <int kOutputs>
struct Transforms {
  using F = Filter<kOutputs>;
  static constexpr int kSize = kOutputs + 2;

  static void Input(const float* images, const TileGrid& grid, std::int64_t first,
                    std::int64_t count, const PointArray& to, std::int64_t row) {
    WithForm<true>(to.form, [&]<PointForm kForm>() HWY_ATTR {
      TransformRows<kForm, kSize, kSize>([](const V* in, V* out) HWY_ATTR { F::Input(in, out); },
                                         TileRows<kSize, kOutputs>{images, grid, first, count},
                                         count, to, row);
    });
  }

  static void OutputGradient(const float* images, const TileGrid& grid, std::int64_t first,
                             std::int64_t count, const PointArray& to, std::int64_t row) {
    WithForm<false>(to.form, [&]<PointForm kForm>() HWY_ATTR {
      TransformRows<kForm, kOutputs, kSize>(
          [](const V* in, V* out) HWY_ATTR { F::OutputGradient(in, out); },
          TileRows<kOutputs, kOutputs>{images, grid, first, count}, count, to, row);
    });
  }

  static void Output(const PointArray& from, std::int64_t count, const float* bias, bool accumulate,
                     const TileGrid& grid, std::int64_t first, float* images) {
    const D d;
    for (std::int64_t r = 0; r < count; ++r) {
      const Window<kOutputs, kOutputs, float> window(images, grid, first + r);
      const Prefetch<kOutputs, kOutputs> prefetch(images, grid, first + r + 1);
      ForChannels(grid.channels, from, r, [&](std::int64_t c, std::int64_t offset) HWY_ATTR {
        prefetch(c);
        const float* points = from.data + offset;
        const V shift = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + c);
        Transform2D<kSize, kOutputs>(
            [](const V* in, V* out) HWY_ATTR { F::Output(in, out); },
            [&](int i, int j)
                HWY_ATTR { return hn::LoadU(d, points + (i * kSize + j) * from.point_stride); },
            [&](int i, int j, V v) HWY_ATTR {
              if (window.pixel[i][j] == nullptr) return;
              float* to = window.pixel[i][j] + c;
              const V sum = hn::Add(v, shift);
              hn::StoreU(accumulate ? hn::Add(sum, hn::LoadU(d, to)) : sum, d, to);
            });
      });
    }
  }

  static void Kernel(const KernelRows& kernels, const PointArray& to, std::int64_t row) {
    WithForm<false>(to.form, [&]<PointForm kForm>() HWY_ATTR {
      const auto rows = [&](const auto& from) HWY_ATTR {
        TransformRows<kForm, 3, kSize>([](const V* in, V* out) HWY_ATTR { F::Kernel(in, out); },
                                       from, kernels.rows, to, row);
      };
      // Rotated kernels are the network's weights, far apart; others have been gathered.
      if (kernels.rotated) {
        rows(KernelsAsRows<true>{kernels});
      } else {
        rows(KernelsAsRows<false>{kernels});
      }
    });
  }

  static void KernelGradient(const float* points, std::int64_t point_stride, std::int64_t channels,
                             bool accumulate, float* d_kernel, std::int64_t tap_stride) {
    const D d;
    for (std::int64_t c = 0; c < channels; c += kLanes) {
      Transform2D<kSize, 3>([](const V* in, V* out) HWY_ATTR { F::KernelGradient(in, out); },
                            [&](int i, int j) HWY_ATTR {
                              return hn::LoadU(d, points + (i * kSize + j) * point_stride + c);
                            },
                            [&](int i, int j, V v) HWY_ATTR {
                              float* const tap = d_kernel + (i * 3 + j) * tap_stride + c;
                              hn::StoreU(accumulate ? hn::Add(v, hn::LoadU(d, tap)) : v, d, tap);
                            });
    }
  }

  static constexpr WinogradTransforms kTable{&Input, &OutputGradient, &Output, &Kernel,
                                             &KernelGradient};
};

const WinogradTransforms* Table(int outputs) {
  return outputs == 2 ? &Transforms<2>::kTable : &Transforms<4>::kTable;
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(Table);

const WinogradTransforms& winograd_transforms(int outputs) {
  return *HWY_DYNAMIC_DISPATCH(Table)(outputs);
}

}  // namespace lab::simd
#endif
