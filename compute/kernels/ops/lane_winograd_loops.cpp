#include "compute/kernels/ops/lane_winograd_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/lane_winograd_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "compute/kernels/ops/lane_sums-inl.h"
#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kMaxImageLanes>;
using V = hn::Vec<D>;
constexpr int kLanes = hn::MaxLanes(D());
constexpr int kColumnPoints = kLaneRows;
constexpr int kRowPoints = kLaneColumns;

// A tile of accumulators, which must fit in the 32 (AVX-512, AArch64) or 16 available registers
// with its operands, holds all six points of a few channels, or three of them in each of two
// passes.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kPasses = 1;
constexpr int kMaxSumOutputs = 4;  // output and input channels of two points of weights
constexpr int kMaxSumInputs = 3;
#else
constexpr int kPasses = 2;
constexpr int kMaxSumOutputs = 2;
constexpr int kMaxSumInputs = 2;
#endif
constexpr int kMaxChannels = 4;
constexpr int kPassPoints = kRowPoints / kPasses;

// Point i of a pass. Of two passes, the first has 0, a and -a, the second infinity, b and -b.
constexpr int point_of(int pass, int i) {
  if (kPasses == 1) return i;
  return i == 0 ? pass : 2 * pass + 1 + i;
}

// Loads a vector into a register. GCC would otherwise load it again for each use.
HWY_INLINE V LoadOnce(const float* from) {
  V v = hn::Load(D(), from);
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL && HWY_TARGET <= HWY_SSE4
  asm("" : "+v"(v.raw));  // NOLINT(hicpp-no-assembler)
#endif
  return v;
}

template <class Vec>
HWY_INLINE Vec Times(float factor, Vec v) {
  return hn::Mul(hn::Set(hn::DFromV<Vec>(), factor), v);
}
template <class Vec>
HWY_INLINE Vec TimesPlus(float factor, Vec v, Vec w) {  // factor * v + w
  return hn::MulAdd(hn::Set(hn::DFromV<Vec>(), factor), v, w);
}

// ---- One-dimensional transforms

// F(5, 5) at 0, and at x and -x of four pairs. The points of a pair are the sum and the difference
// of the terms with even and with odd powers of x.
namespace of_columns {

constexpr int kPairs = 4;
constexpr double kX[kPairs] = {0.4375, 0.875, 1.5, 4};

// Coefficients of z^0, z^2, .. of the polynomial whose zeros are all pairs but one.
constexpr std::array<double, kPairs + 1> without(int pair) {
  std::array<double, kPairs + 1> c{1};
  for (int k = 0; k < kPairs; ++k) {
    if (k == pair) continue;
    const double square = kX[k] * kX[k];
    for (int i = kPairs; i > 0; --i) c[i] = c[i - 1] - square * c[i];
    c[0] *= -square;
  }
  return c;
}
struct Pair {
  float x[kLaneKernel] = {};     // powers
  float input[kPairs - 1] = {};  // without(this pair), whose last coefficient is 1
  float kernel = 0;              // 1 / product of the differences from x to all other points
};
constexpr Pair pair(int k) {
  const std::array<double, kPairs + 1> others = without(k);
  Pair p;
  double power = 1, value = 0, even = 1;
  for (float& of : p.x) {
    of = static_cast<float>(power);
    power *= kX[k];
  }
  for (int i = 0; i < kPairs; ++i, even *= kX[k] * kX[k]) {
    if (i < kPairs - 1) p.input[i] = static_cast<float>(others[i]);
    value += others[i] * even;
  }
  p.kernel = static_cast<float>(1 / (2 * kX[k] * kX[k] * value));
  return p;
}
constexpr Pair kTable[kPairs] = {pair(0), pair(1), pair(2), pair(3)};
// of point 0
constexpr std::array<double, kPairs + 1> kAll = without(kPairs);
constexpr float kZero[kPairs] = {static_cast<float>(kAll[0]), static_cast<float>(kAll[1]),
                                 static_cast<float>(kAll[2]), static_cast<float>(kAll[3])};
constexpr float kKernelZero = static_cast<float>(1 / kAll[0]);

// t = B1^T v
HWY_INLINE void Input(const V* v, V* t) {
  t[0] = TimesPlus(
      kZero[0], v[0],
      TimesPlus(kZero[1], v[2], TimesPlus(kZero[2], v[4], TimesPlus(kZero[3], v[6], v[8]))));
#pragma GCC unroll 8
  for (int k = 0; k < kPairs; ++k) {
    const float* const c = kTable[k].input;
    const V even = TimesPlus(c[0], v[2], TimesPlus(c[1], v[4], TimesPlus(c[2], v[6], v[8])));
    const V odd = TimesPlus(c[0], v[1], TimesPlus(c[1], v[3], TimesPlus(c[2], v[5], v[7])));
    t[2 * k + 1] = TimesPlus(kTable[k].x[1], odd, even);
    t[2 * k + 2] = TimesPlus(-kTable[k].x[1], odd, even);
  }
}

// v = B1 t
HWY_INLINE void InputGradient(const V* t, V* v) {
#pragma GCC unroll 8
  for (int i = 0; i < kPairs; ++i) v[2 * i] = Times(kZero[i], t[0]);
  v[8] = t[0];
#pragma GCC unroll 8
  for (int k = 0; k < kPairs; ++k) {
    const float* const c = kTable[k].input;
    const V even = hn::Add(t[2 * k + 1], t[2 * k + 2]);
    const V odd = Times(kTable[k].x[1], hn::Sub(t[2 * k + 1], t[2 * k + 2]));
#pragma GCC unroll 8
    for (int i = 0; i < kPairs - 1; ++i) {
      v[2 * i + 1] = k == 0 ? Times(c[i], odd) : TimesPlus(c[i], odd, v[2 * i + 1]);
      v[2 * i + 2] = TimesPlus(c[i], even, v[2 * i + 2]);
    }
    v[7] = k == 0 ? odd : hn::Add(v[7], odd);
    v[8] = hn::Add(v[8], even);
  }
}

// The polynomial with the coefficients y has the values even + odd and even - odd at x and -x of a
// pair. Its transpose adds to y, whose first element must be set before the first pair.
static_assert(kLaneTileHeight == kLaneKernel);
template <class Vec>
HWY_INLINE void Evaluate(int k, const Vec* y, Vec& even, Vec& odd) {
  const float* const x = kTable[k].x;
  even = TimesPlus(x[4], y[4], TimesPlus(x[2], y[2], y[0]));
  odd = TimesPlus(x[3], y[3], Times(x[1], y[1]));
}
template <class Vec>
HWY_INLINE void AddTransposed(int k, Vec even, Vec odd, Vec* y) {
  const float* const x = kTable[k].x;
  y[0] = hn::Add(y[0], even);
#pragma GCC unroll 8
  for (int i = 1; i < kLaneKernel; ++i) {
    const Vec part = i % 2 == 0 ? even : odd;
    y[i] = k == 0 ? Times(x[i], part) : TimesPlus(x[i], part, y[i]);
  }
}

// y = A1^T t
HWY_INLINE void Output(const V* t, V* y) {
  y[0] = t[0];
#pragma GCC unroll 8
  for (int k = 0; k < kPairs; ++k) {
    const V plus = t[2 * k + 1], minus = t[2 * k + 2];
    AddTransposed(k, hn::Add(plus, minus), hn::Sub(plus, minus), y);
  }
}

// t = A1 y
HWY_INLINE void OutputGradient(const V* y, V* t) {
  t[0] = y[0];
#pragma GCC unroll 8
  for (int k = 0; k < kPairs; ++k) {
    V even, odd;
    Evaluate(k, y, even, odd);
    t[2 * k + 1] = hn::Add(even, odd);
    t[2 * k + 2] = hn::Sub(even, odd);
  }
}

// t = G1 g
template <class Vec>
HWY_INLINE void Kernel(const Vec* g, Vec* t) {
  t[0] = Times(kKernelZero, g[0]);
#pragma GCC unroll 8
  for (int k = 0; k < kPairs; ++k) {
    Vec even, odd;
    Evaluate(k, g, even, odd);
    even = Times(kTable[k].kernel, even);
    odd = Times(kTable[k].kernel, odd);
    t[2 * k + 1] = hn::Add(even, odd);
    t[2 * k + 2] = hn::Sub(even, odd);
  }
}

// g = G1^T t
template <class Vec>
HWY_INLINE void KernelGradient(const Vec* t, Vec* g) {
  g[0] = Times(kKernelZero, t[0]);
#pragma GCC unroll 8
  for (int k = 0; k < kPairs; ++k) {
    const Vec plus = t[2 * k + 1], minus = t[2 * k + 2];
    const float factor = kTable[k].kernel;
    AddTransposed(k, Times(factor, hn::Add(plus, minus)), Times(factor, hn::Sub(plus, minus)), g);
  }
}

}  // namespace of_columns

// F(2, 5) at 0, infinity, a, -a, b and -b.
namespace of_rows {

constexpr float kA = 0.625F, kB = 1.5F;
constexpr float kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB, kA4 = kA2 * kA2,
                kB4 = kB2 * kB2;
constexpr float kProduct = kA2 * kB2, kSum = kA2 + kB2;
// Factors of the points in G. That of infinity makes up for the factor a in A.
constexpr float kKernel0 = static_cast<float>(1.0 / kProduct);
constexpr float kKernelInf = static_cast<float>(1.0 / kA);
constexpr float kKernelA = static_cast<float>(1.0 / (2.0 * kA2 * (kA2 - kB2)));
constexpr float kKernelB = static_cast<float>(1.0 / (2.0 * kB2 * (kB2 - kA2)));

// t = B2^T v
HWY_INLINE void Input(const V* v, V* t) {
  const V even_a = TimesPlus(-kB2, v[2], v[4]), odd_a = Times(kA, TimesPlus(-kB2, v[1], v[3]));
  const V even_b = TimesPlus(-kA2, v[2], v[4]), odd_b = Times(kB, TimesPlus(-kA2, v[1], v[3]));
  t[0] = TimesPlus(kProduct, v[0], TimesPlus(-kSum, v[2], v[4]));
  t[1] = TimesPlus(kProduct, v[1], TimesPlus(-kSum, v[3], v[5]));
  t[2] = hn::Add(even_a, odd_a);
  t[3] = hn::Sub(even_a, odd_a);
  t[4] = hn::Add(even_b, odd_b);
  t[5] = hn::Sub(even_b, odd_b);
}

// v = B2 t
HWY_INLINE void InputGradient(const V* t, V* v) {
  const V even_a = hn::Add(t[2], t[3]), odd_a = Times(kA, hn::Sub(t[2], t[3]));
  const V even_b = hn::Add(t[4], t[5]), odd_b = Times(kB, hn::Sub(t[4], t[5]));
  v[0] = Times(kProduct, t[0]);
  v[1] = TimesPlus(kProduct, t[1], TimesPlus(-kB2, odd_a, Times(-kA2, odd_b)));
  v[2] = TimesPlus(-kSum, t[0], TimesPlus(-kB2, even_a, Times(-kA2, even_b)));
  v[3] = TimesPlus(-kSum, t[1], hn::Add(odd_a, odd_b));
  v[4] = hn::Add(t[0], hn::Add(even_a, even_b));
  v[5] = t[1];
}

// y = A2^T t
HWY_INLINE void Output(const V* t, V* y) {
  const V even_a = hn::Add(t[2], t[3]), odd_a = hn::Sub(t[2], t[3]);
  const V even_b = hn::Add(t[4], t[5]), odd_b = hn::Sub(t[4], t[5]);
  y[0] = hn::Add(t[0], hn::Add(even_a, even_b));
  y[1] = TimesPlus(kA, hn::Add(t[1], odd_a), Times(kB, odd_b));
}

// t = A2 y, for the second of two values of y times a.
HWY_INLINE void OutputGradient(V first, V second_a, V* t) {
  const V second_b = Times(kB / kA, second_a);
  t[0] = first;
  t[1] = second_a;
  t[2] = hn::Add(first, second_a);
  t[3] = hn::Sub(first, second_a);
  t[4] = hn::Add(first, second_b);
  t[5] = hn::Sub(first, second_b);
}

// t = G2 g
template <class Vec>
HWY_INLINE void Kernel(const Vec* g, Vec* t) {
  const Vec even_a = Times(kKernelA, TimesPlus(kA4, g[4], TimesPlus(kA2, g[2], g[0])));
  const Vec odd_a = Times(kKernelA, TimesPlus(kA3, g[3], Times(kA, g[1])));
  const Vec even_b = Times(kKernelB, TimesPlus(kB4, g[4], TimesPlus(kB2, g[2], g[0])));
  const Vec odd_b = Times(kKernelB, TimesPlus(kB3, g[3], Times(kB, g[1])));
  t[0] = Times(kKernel0, g[0]);
  t[1] = Times(kKernelInf, g[4]);
  t[2] = hn::Add(even_a, odd_a);
  t[3] = hn::Sub(even_a, odd_a);
  t[4] = hn::Add(even_b, odd_b);
  t[5] = hn::Sub(even_b, odd_b);
}

// g = G2^T t
template <class Vec>
HWY_INLINE void KernelGradient(const Vec* t, Vec* g) {
  const Vec even_a = Times(kKernelA, hn::Add(t[2], t[3]));
  const Vec odd_a = Times(kKernelA, hn::Sub(t[2], t[3]));
  const Vec even_b = Times(kKernelB, hn::Add(t[4], t[5]));
  const Vec odd_b = Times(kKernelB, hn::Sub(t[4], t[5]));
  g[0] = TimesPlus(kKernel0, t[0], hn::Add(even_a, even_b));
  g[1] = TimesPlus(kA, odd_a, Times(kB, odd_b));
  g[2] = TimesPlus(kA2, even_a, Times(kB2, even_b));
  g[3] = TimesPlus(kA3, odd_a, Times(kB3, odd_b));
  g[4] = TimesPlus(kA4, even_a, TimesPlus(kB4, even_b, Times(kKernelInf, t[1])));
}

}  // namespace of_rows

// ---- Transforms of inputs and outputs

void InputColumns(const std::array<const float*, kLaneRows>& rows, std::int64_t n, float* to,
                  std::int64_t to_stride) {
  const D d;
  for (std::int64_t e = 0; e < n * kLanes; e += kLanes) {
    V v[kColumnPoints], t[kColumnPoints];
#pragma GCC unroll 16
    for (int i = 0; i < kColumnPoints; ++i) v[i] = LoadOnce(rows[i] + e);
    of_columns::Input(v, t);
#pragma GCC unroll 16
    for (int p = 0; p < kColumnPoints; ++p) hn::Store(t[p], d, to + p * to_stride * kLanes + e);
  }
}

void InputPointRows(const float* from, std::int64_t tiles, std::int64_t channels, float* to,
                    std::int64_t pair_stride) {
  const D d;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const float* in = from + t * kLaneTileWidth * channels * kLanes;
    for (std::int64_t c = 0; c < channels; ++c, in += kLanes, to += 2 * kLanes) {
      V v[kRowPoints], points[kRowPoints];
#pragma GCC unroll 8
      for (int i = 0; i < kRowPoints; ++i) v[i] = LoadOnce(in + i * channels * kLanes);
      of_rows::Input(v, points);
#pragma GCC unroll 8
      for (int p = 0; p < kRowPoints; ++p) {
        hn::Store(points[p], d, to + (p / 2 * pair_stride + p % 2) * kLanes);
      }
    }
  }
}

void OutputColumns(const LaneOutputColumns& c) {
  const D d;
  const float* from = c.from;
  float* to = c.to;
  for (std::int64_t x = 0; x < c.width; ++x) {
    for (std::int64_t o = 0; o < c.channels; ++o, from += kLanes, to += kLanes) {
      V t[kColumnPoints], y[kLaneTileHeight];
#pragma GCC unroll 16
      for (int p = 0; p < kColumnPoints; ++p) t[p] = LoadOnce(from + p * c.stride * kLanes);
      of_columns::Output(t, y);
      const V bias = hn::Set(d, c.bias == nullptr ? 0.0F : c.bias[o]);
#pragma GCC unroll 8
      for (int i = 0; i < kLaneTileHeight; ++i) {
        if (i < c.rows) hn::Store(hn::Add(y[i], bias), d, to + i * c.to_stride * kLanes);
      }
    }
  }
}

void GradientColumns(const LaneGradientRows& rows, float* to, std::int64_t to_stride) {
  const D d;
  const float* from = rows.from;
  const std::int64_t gap = (lane_gradient_stride(rows.channels) - rows.channels) * kLanes;
  for (std::int64_t x = 0; x < rows.width; ++x, to += gap) {
    const V factor = hn::Set(d, x % 2 == 0 ? 1.0F : of_rows::kA);
    for (std::int64_t c = 0; c < rows.channels; ++c, from += kLanes, to += kLanes) {
      V y[kLaneTileHeight], t[kColumnPoints];
#pragma GCC unroll 8
      for (int i = 0; i < kLaneTileHeight; ++i) {
        y[i] = i < rows.rows ? hn::Mul(factor, hn::Load(d, from + i * rows.stride * kLanes))
                             : hn::Zero(d);
      }
      of_columns::OutputGradient(y, t);
#pragma GCC unroll 16
      for (int p = 0; p < kColumnPoints; ++p) hn::Store(t[p], d, to + p * to_stride * kLanes);
    }
  }
}

void GradientInputColumns(const LaneGradientColumns& c) {
  constexpr int kShared = kColumnPoints - kLaneTileHeight;  // rows shared with the next tiles
  const D d;
  for (std::int64_t e = 0; e < c.n * kLanes; e += kLanes) {
    const auto inside = [&](std::int64_t r) { return r >= 0 && r < c.height; };
    const auto row = [&](std::int64_t r) { return c.image + r * c.n * kLanes + e; };
    V sum[kShared];
#pragma GCC unroll 8
    for (int i = 0; i < kShared; ++i) {
      sum[i] = c.add_to_first && inside(c.top + i) ? hn::Load(d, row(c.top + i)) : hn::Zero(d);
    }
    std::int64_t r = c.top;
    for (std::int64_t t = 0; t < c.tiles; ++t, r += kLaneTileHeight) {
      V points[kColumnPoints], v[kColumnPoints];
#pragma GCC unroll 16
      for (int p = 0; p < kColumnPoints; ++p) {
        points[p] = LoadOnce(c.from + (t * c.tile_stride + p * c.point_stride) * kLanes + e);
      }
      of_columns::InputGradient(points, v);
#pragma GCC unroll 8
      for (int i = 0; i < kLaneTileHeight; ++i) {
        if (i < kShared) v[i] = hn::Add(v[i], sum[i]);
        if (inside(r + i)) hn::Store(v[i], d, row(r + i));
      }
#pragma GCC unroll 8
      for (int i = 0; i < kShared; ++i) sum[i] = v[kLaneTileHeight + i];
    }
#pragma GCC unroll 8
    for (int i = 0; i < kShared; ++i) {
      if (inside(r + i)) hn::Store(sum[i], d, row(r + i));
    }
  }
}

// ---- Products

template <class Kernel, class Args, int... kIndex>
void RunSize(std::int64_t size, const Args& args, std::int64_t begin,
             std::integer_sequence<int, kIndex...>) {
  ((size == kIndex + 1 ? Kernel::template Run<kIndex + 1>(args, begin) : void()), ...);
}

// Calls Kernel::Run<size>(args, begin) for even groups of at most kMax channels.
template <class Kernel, int kMax, class Args>
void ForGroups(std::int64_t channels, const Args& args) {
  const std::int64_t groups = (channels + kMax - 1) / kMax;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t begin = channels * g / groups;
    const std::int64_t size = channels * (g + 1) / groups - begin;
    RunSize<Kernel>(size, args, begin, std::make_integer_sequence<int, kMax>());
  }
}

template <int kPass>
struct OutputKernel {
  template <int kOut>
  static void Run(const LaneOutputs& row, std::int64_t first_out) {
    for (std::int64_t tile = 0; tile < row.tiles; ++tile) {
      V sum[kOut][kRowPoints];
      Multiply(row, first_out, tile, sum);
      float* HWY_RESTRICT out =
          row.out + (kLaneTileWidth * tile * row.out_channels + first_out) * kLanes;
#pragma GCC unroll 8
      for (int o = 0; o < kOut; ++o) {
        Store(sum[o], out + o * kLanes, out + (row.out_channels + o) * kLanes);
      }
    }
  }

 private:
  template <int kOut>
  static HWY_INLINE void Multiply(const LaneOutputs& row, std::int64_t first_out, std::int64_t tile,
                                  V (&sum)[kOut][kRowPoints]) {
    const D d;
#pragma GCC unroll 8
    for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 8
      for (int i = 0; i < kPassPoints; ++i) sum[o][point_of(kPass, i)] = hn::Zero(d);
    }
    const std::int64_t pair = row.pair_stride * kLanes;
    const float* HWY_RESTRICT in = row.input + tile * row.in_channels * 2 * kLanes;
    const float* HWY_RESTRICT w = row.kernels + first_out * row.in_channels * kRowPoints;
    for (std::int64_t c = 0; c < row.in_channels; ++c) {
#pragma GCC unroll 8
      for (int i = 0; i < kPassPoints; ++i) {
        const int p = point_of(kPass, i);
        const V x = LoadOnce(in + p / 2 * pair + p % 2 * kLanes);
#pragma GCC unroll 8
        for (int o = 0; o < kOut; ++o) {
          sum[o][p] = hn::MulAdd(hn::Set(d, w[p * kOut + o]), x, sum[o][p]);
        }
      }
      in += 2 * kLanes;
      w += kRowPoints * kOut;
    }
  }

  static HWY_INLINE void Store(const V* t, float* first, float* second) {
    const D d;
    V y[2];
    if (kPasses == 1) {
      of_rows::Output(t, y);
    } else if (kPass == 0) {
      y[0] = hn::Add(t[0], hn::Add(t[2], t[3]));
      y[1] = Times(of_rows::kA, hn::Sub(t[2], t[3]));
    } else {
      y[0] = hn::Add(hn::Load(d, first), hn::Add(t[4], t[5]));
      y[1] = TimesPlus(of_rows::kB, hn::Sub(t[4], t[5]),
                       TimesPlus(of_rows::kA, t[1], hn::Load(d, second)));
    }
    hn::Store(y[0], d, first);
    hn::Store(y[1], d, second);
  }
};

void OutputRow(const LaneOutputs& row) {
  ForGroups<OutputKernel<0>, kMaxChannels>(row.out_channels, row);
  if (kPasses > 1) ForGroups<OutputKernel<1>, kMaxChannels>(row.out_channels, row);
}

template <int kPass>
struct InputGradientKernel {
  template <int kIn>
  static void Run(const LaneInputGradients& row, std::int64_t first_in) {
    for (std::int64_t tile = 0; tile < row.tiles; ++tile) {
      V sum[kIn][kRowPoints];
      Multiply(row, first_in, tile, sum);
      float* HWY_RESTRICT to =
          row.to + (kLaneTileWidth * tile * row.in_channels + first_in) * kLanes;
      // The tile before, or the first pass, has written these.
      const int written = kPass > 0 ? kRowPoints : tile > 0 ? kRowPoints - kLaneTileWidth : 0;
#pragma GCC unroll 8
      for (int c = 0; c < kIn; ++c) Store(sum[c], to + c * kLanes, row.in_channels, written);
    }
  }

 private:
  template <int kIn>
  static HWY_INLINE void Multiply(const LaneInputGradients& row, std::int64_t first_in,
                                  std::int64_t tile, V (&sum)[kIn][kRowPoints]) {
    const D d;
#pragma GCC unroll 8
    for (int c = 0; c < kIn; ++c) {
#pragma GCC unroll 8
      for (int p = 0; p < kRowPoints; ++p) sum[c][p] = hn::Zero(d);
    }
    const std::int64_t pixel = lane_gradient_stride(row.out_channels) * kLanes;
    const float* HWY_RESTRICT dy = row.dy + tile * 2 * pixel;
    const float* HWY_RESTRICT w = row.kernels + first_in * row.out_channels * kRowPoints;
    for (std::int64_t o = 0; o < row.out_channels; ++o) {
      V points[kRowPoints];
      of_rows::OutputGradient(LoadOnce(dy), LoadOnce(dy + pixel), points);
#pragma GCC unroll 8
      for (int i = 0; i < kPassPoints; ++i) {
        const int p = point_of(kPass, i);
#pragma GCC unroll 8
        for (int c = 0; c < kIn; ++c) {
          sum[c][p] = hn::MulAdd(hn::Set(d, w[p * kIn + c]), points[p], sum[c][p]);
        }
      }
      dy += kLanes;
      w += kRowPoints * kIn;
    }
  }

  // Points of other passes are 0.
  static HWY_INLINE void Store(const V* t, float* to, std::int64_t channels, int written) {
    const D d;
    V v[kRowPoints];
    of_rows::InputGradient(t, v);
#pragma GCC unroll 8
    for (int i = 0; i < kRowPoints; ++i) {
      float* at = to + i * channels * kLanes;
      if (i < written) v[i] = hn::Add(v[i], hn::Load(d, at));
      hn::Store(v[i], d, at);
    }
  }
};

void InputGradientRow(const LaneInputGradients& row) {
  ForGroups<InputGradientKernel<0>, kMaxChannels>(row.in_channels, row);
  if (kPasses > 1) ForGroups<InputGradientKernel<1>, kMaxChannels>(row.in_channels, row);
}

// A pair of points.
struct WeightPair {
  const LaneWeightSums& row;
  std::int64_t first_out;
};

template <int kPair, int kOut>
struct WeightKernel {
  template <int kIn>
  static void Run(const WeightPair& pair, std::int64_t first_in) {
    const D d;
    const LaneWeightSums& row = pair.row;
    V sum[2][kOut][kIn];
#pragma GCC unroll 8
    for (int p = 0; p < 2; ++p) {
#pragma GCC unroll 8
      for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 8
        for (int c = 0; c < kIn; ++c) sum[p][o][c] = hn::Zero(d);
      }
    }
    const float* HWY_RESTRICT in = row.input + (kPair * row.pair_stride + first_in * 2) * kLanes;
    const std::int64_t pixel = lane_gradient_stride(row.out_channels) * kLanes;
    const float* HWY_RESTRICT dy = row.dy + pair.first_out * kLanes;
    for (std::int64_t tile = 0; tile < row.tiles; ++tile) {
      AddTile(in, dy, pixel, sum);
      in += 2 * row.in_channels * kLanes;
      dy += 2 * pixel;
    }
    V vectors[2 * kOut * kIn];
#pragma GCC unroll 32
    for (int i = 0; i < 2 * kOut * kIn; ++i) {
      vectors[i] = sum[i / (kOut * kIn)][i / kIn % kOut][i % kIn];
    }
    float of_lanes[2 * kOut * kIn];
    SumLanesOf(vectors, of_lanes);
    const std::int64_t point = row.out_channels * row.in_channels;
    float* const sums = row.sums + 2 * kPair * point + pair.first_out * row.in_channels + first_in;
    for (int p = 0; p < 2; ++p) {
      for (int o = 0; o < kOut; ++o) {
        for (int c = 0; c < kIn; ++c) {
          sums[p * point + o * row.in_channels + c] += of_lanes[(p * kOut + o) * kIn + c];
        }
      }
    }
  }

 private:
  template <int kVectors>
  static HWY_INLINE void SumLanesOf(const V (&vectors)[kVectors], float (&to)[kVectors]) {
    const D d;
#pragma GCC unroll 32
    for (int first = 0; first < kVectors; first += kLanes) {
      V rows[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) {
        rows[i] = first + i < kVectors ? vectors[first + i] : hn::Zero(d);
      }
      const V sums = SumsOfRows(d, rows);
      if (first + kLanes <= kVectors) {
        hn::StoreU(sums, d, to + first);
      } else {
        HWY_ALIGN float some[kLanes];
        hn::Store(sums, d, some);
        std::copy_n(some, kVectors - first, to + first);
      }
    }
  }

  template <int kIn>
  static HWY_INLINE void AddTile(const float* HWY_RESTRICT in, const float* HWY_RESTRICT dy,
                                 std::int64_t pixel, V (&sum)[2][kOut][kIn]) {
    V x[kIn][2];
#pragma GCC unroll 8
    for (int c = 0; c < kIn; ++c) {
      x[c][0] = LoadOnce(in + 2 * c * kLanes);
      x[c][1] = LoadOnce(in + (2 * c + 1) * kLanes);
    }
#pragma GCC unroll 8
    for (int o = 0; o < kOut; ++o) {
      V first = LoadOnce(dy + o * kLanes);
      V second = LoadOnce(dy + pixel + o * kLanes);
      if (kPair == 2) second = Times(of_rows::kB / of_rows::kA, second);
      if (kPair > 0) {
        const V of_both = hn::Add(first, second);
        second = hn::Sub(first, second);
        first = of_both;
      }
#pragma GCC unroll 8
      for (int c = 0; c < kIn; ++c) {
        sum[0][o][c] = hn::MulAdd(first, x[c][0], sum[0][o][c]);
        sum[1][o][c] = hn::MulAdd(second, x[c][1], sum[1][o][c]);
      }
    }
  }
};

struct WeightOutputs {
  template <int kOut>
  static void Run(const LaneWeightSums& row, std::int64_t first_out) {
    const WeightPair pair{row, first_out};
    ForGroups<WeightKernel<0, kOut>, kMaxSumInputs>(row.in_channels, pair);
    ForGroups<WeightKernel<1, kOut>, kMaxSumInputs>(row.in_channels, pair);
    ForGroups<WeightKernel<2, kOut>, kMaxSumInputs>(row.in_channels, pair);
  }
};

void AddWeightSumsRow(const LaneWeightSums& row) {
  ForGroups<WeightOutputs, kMaxSumOutputs>(row.out_channels, row);
}

// ---- Kernels

// Applies `columns`, from kRowsIn to kRowsOut values, then `rows`, from kIn to kOut values,
// to each of n arrays [kRowsIn, kIn]. `to` may be `from`.
template <int kRowsIn, int kIn, int kRowsOut, int kOut, class Columns, class Rows>
HWY_INLINE void TransformKernels(const float* from, std::int64_t n, float* to,
                                 const Columns& columns, const Rows& rows) {
  for_lanes(n, [&](auto d, std::int64_t e) HWY_ATTR {
    using Vec = hn::Vec<decltype(d)>;
    Vec half[kRowsOut][kIn];
    for (int j = 0; j < kIn; ++j) {
      Vec in[kRowsIn], out[kRowsOut];
      for (int i = 0; i < kRowsIn; ++i) in[i] = hn::LoadU(d, from + (i * kIn + j) * n + e);
      columns(in, out);
      for (int i = 0; i < kRowsOut; ++i) half[i][j] = out[i];
    }
    for (int i = 0; i < kRowsOut; ++i) {
      Vec out[kOut];
      rows(half[i], out);
      for (int j = 0; j < kOut; ++j) hn::StoreU(out[j], d, to + (i * kOut + j) * n + e);
    }
  });
}

void KernelPointsOf(float* taps, std::int64_t summed, std::int64_t channels, float* to) {
  const std::int64_t n = summed * channels;
  float* const points = taps + kLaneKernel * kLaneKernel * n;
  TransformKernels<kLaneKernel, kLaneKernel, kColumnPoints, kRowPoints>(
      taps, n, points, [](const auto* g, auto* t) HWY_ATTR { of_columns::Kernel(g, t); },
      [](const auto* g, auto* t) HWY_ATTR { of_rows::Kernel(g, t); });
  const std::int64_t groups = (channels + kMaxChannels - 1) / kMaxChannels;
  for (std::int64_t row = 0; row < kColumnPoints; ++row) {
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t begin = channels * g / groups, end = channels * (g + 1) / groups;
      for (std::int64_t k = 0; k < summed; ++k) {
        for (std::int64_t p = 0; p < kRowPoints; ++p) {
          const float* from = points + (row * kRowPoints + p) * n + k * channels;
          for (std::int64_t c = begin; c < end; ++c) *to++ = from[c];
        }
      }
    }
  }
}

void KernelGradientsOf(float* points, std::int64_t n) {
  TransformKernels<kColumnPoints, kRowPoints, kLaneKernel, kLaneKernel>(
      points, n, points, [](const auto* t, auto* g) HWY_ATTR { of_columns::KernelGradient(t, g); },
      [](const auto* t, auto* g) HWY_ATTR { of_rows::KernelGradient(t, g); });
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(InputColumns);
HWY_EXPORT(InputPointRows);
HWY_EXPORT(OutputColumns);
HWY_EXPORT(OutputRow);
HWY_EXPORT(GradientColumns);
HWY_EXPORT(AddWeightSumsRow);
HWY_EXPORT(InputGradientRow);
HWY_EXPORT(GradientInputColumns);
HWY_EXPORT(KernelPointsOf);
HWY_EXPORT(KernelGradientsOf);

void lane_input_columns(const std::array<const float*, kLaneRows>& rows, std::int64_t n, float* to,
                        std::int64_t to_stride) {
  HWY_DYNAMIC_DISPATCH(InputColumns)(rows, n, to, to_stride);
}

void lane_input_points(const float* from, std::int64_t tiles, std::int64_t channels, float* to,
                       std::int64_t pair_stride) {
  HWY_DYNAMIC_DISPATCH(InputPointRows)(from, tiles, channels, to, pair_stride);
}

void lane_outputs(const LaneOutputs& row) {
  HWY_DYNAMIC_DISPATCH(OutputRow)(row);
}

void lane_output_columns(const LaneOutputColumns& columns) {
  HWY_DYNAMIC_DISPATCH(OutputColumns)(columns);
}

void lane_gradient_columns(const LaneGradientRows& rows, float* to, std::int64_t to_stride) {
  HWY_DYNAMIC_DISPATCH(GradientColumns)(rows, to, to_stride);
}

void add_lane_weight_sums(const LaneWeightSums& row) {
  HWY_DYNAMIC_DISPATCH(AddWeightSumsRow)(row);
}

void lane_input_gradients(const LaneInputGradients& row) {
  HWY_DYNAMIC_DISPATCH(InputGradientRow)(row);
}

void lane_input_gradient_columns(const LaneGradientColumns& columns) {
  HWY_DYNAMIC_DISPATCH(GradientInputColumns)(columns);
}

void lane_kernel_points(float* taps, std::int64_t summed, std::int64_t channels, float* to) {
  HWY_DYNAMIC_DISPATCH(KernelPointsOf)(taps, summed, channels, to);
}

void lane_kernel_gradients(float* points, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(KernelGradientsOf)(points, n);
}

}  // namespace lab::simd
#endif
