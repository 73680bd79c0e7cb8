#include "compute/kernels/ops/row_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/row_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/kernels/ops/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

// Rows shorter than a vector are processed `lanes` at a time: lanes * cols floats are exactly cols
// vectors, in which column c repeats every cols floats.
void AddBias(float* x, const float* bias, std::int64_t rows, std::int64_t cols) {
  const Wide d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t r = 0;
  if (cols < lanes) {
    std::array<float, 16 * 16> pattern;
    for (std::int64_t i = 0; i < lanes * cols; ++i) pattern[i] = bias[i % cols];
    for (; r + lanes <= rows; r += lanes) {
      float* row = x + r * cols;
      for (std::int64_t i = 0; i < lanes * cols; i += lanes) {
        hn::StoreU(hn::Add(hn::LoadU(d, row + i), hn::LoadU(d, pattern.data() + i)), d, row + i);
      }
    }
  }
  for (; r < rows; ++r) {
    float* row = x + r * cols;
    for_lanes(cols, [&](auto tag, std::int64_t c) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(tag, row + c), hn::LoadU(tag, bias + c)), tag, row + c);
    });
  }
}

void AddTo(double* sum, const float* x, std::int64_t n) {
  for_double_lanes(n, [&](auto df, auto d, std::int64_t i) HWY_ATTR {
    const auto v = hn::PromoteTo(d, hn::LoadU(df, x + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), v), d, sum + i);
  });
}

constexpr std::int64_t kMaxSums = 8;  // vectors of sums kept in registers

// Adds `rows` rows of kVecs vectors, `stride` floats apart, to the sums, which stay in registers.
template <int kVecs>
void AddRows(double* sums, const float* x, std::int64_t rows, std::int64_t stride) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[kVecs];
#pragma GCC unroll 8
  for (int v = 0; v < kVecs; ++v) sum[v] = hn::LoadU(d, sums + v * lanes);
  for (std::int64_t r = 0; r < rows; ++r, x += stride) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) {
      sum[v] = hn::Add(sum[v], hn::PromoteTo(d, hn::LoadU(df, x + v * lanes)));
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVecs; ++v) hn::StoreU(sum[v], d, sums + v * lanes);
}

void AddRowsOf(std::int64_t vecs, double* sums, const float* x, std::int64_t rows,
               std::int64_t stride) {
  using Function = void (*)(double*, const float*, std::int64_t, std::int64_t);
  constexpr Function kFunctions[] = {AddRows<1>, AddRows<2>, AddRows<3>, AddRows<4>,
                                     AddRows<5>, AddRows<6>, AddRows<7>, AddRows<8>};
  kFunctions[vecs - 1](sums, x, rows, stride);
}

// Sums groups of rows, each treated as one long row of at most kMaxSums whole vectors. Returns the
// number of rows processed.
std::int64_t AddGroups(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t group,
                       double* sums) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<double>()));
  const std::int64_t size = group * cols;
  std::array<double, kMaxSums * HWY_MAX_BYTES / sizeof(double)> row{};
  AddRowsOf(size / lanes, row.data(), x, rows / group, size);
  for (std::int64_t i = 0; i < size; ++i) sums[i % cols] += row[i];
  return rows / group * group;
}

void ColumnSums(const float* x, std::int64_t rows, std::int64_t cols, double* sums) {
  if (rows == 0) return;  // x may be null
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<double>()));
  std::int64_t group = 8;
  while (group > 1 && (group * cols > kMaxSums * lanes || group * cols % lanes != 0)) group /= 2;
  std::int64_t r = group > 1 ? AddGroups(x, rows, cols, group, sums) : 0;
  std::int64_t c = 0;  // columns finished in all rows
  while (group == 1 && c + lanes <= cols) {
    const std::int64_t vecs = std::min<std::int64_t>(kMaxSums, (cols - c) / lanes);
    AddRowsOf(vecs, sums + c, x + c, rows, cols);
    c += vecs * lanes;
  }
  for (; r < rows && c < cols; ++r) AddTo(sums + c, x + r * cols + c, cols - c);
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(AddBias);
HWY_EXPORT(ColumnSums);

void add_bias(float* x, const float* bias, std::int64_t rows, std::int64_t cols) {
  HWY_DYNAMIC_DISPATCH(AddBias)(x, bias, rows, cols);
}

void column_sums(const float* x, std::int64_t rows, std::int64_t cols, double* sums) {
  HWY_DYNAMIC_DISPATCH(ColumnSums)(x, rows, cols, sums);
}

// Scalar FP64: with ten classes this is a negligible share of a step's work.
void softmax_cross_entropy(const CrossEntropyArgs& args) {
  std::array<double, 256> e;
  const double spread = args.smoothing / static_cast<double>(args.classes);
  const double hit = 1 - args.smoothing + spread;  // target of the label's class
  for (std::int64_t r = 0; r < args.rows; ++r) {
    const float* z = args.logits + r * args.classes;
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < args.classes; ++c) {
      if (z[c] > z[best]) best = c;
    }
    double sum = 0;
    for (std::int64_t c = 0; c < args.classes; ++c) {
      e[c] = std::exp(static_cast<double>(z[c]) - z[best]);
      sum += e[c];
    }
    const std::uint8_t label = args.labels[r];
    double margin = (1 - args.smoothing) * (static_cast<double>(z[label]) - z[best]);
    for (std::int64_t c = 0; spread > 0 && c < args.classes; ++c) {
      margin += spread * (static_cast<double>(z[c]) - z[best]);
    }
    args.losses[r] = static_cast<float>(std::log(sum) - margin);
    args.predicted[r] = static_cast<std::uint8_t>(best);
    if (args.confidence != nullptr) args.confidence[r] = static_cast<float>(e[best] / sum);
    if (args.d_logits == nullptr) continue;
    float* dz = args.d_logits + r * args.classes;
    for (std::int64_t c = 0; c < args.classes; ++c) {
      dz[c] = static_cast<float>((e[c] / sum - (c == label ? hit : spread)) / args.divisor);
    }
  }
}

}  // namespace lab::simd
#endif
