#include "compute/cpu/row_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/row_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>

#include "compute/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {

// Rows shorter than a vector are handled `lanes` rows at a time: lanes * cols floats are exactly
// cols vectors, in which column c repeats at every cols-th float.
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

void ColumnSums(const float* x, std::int64_t rows, std::int64_t cols, double* sums) {
  constexpr std::int64_t kGroup = 8;  // rows added at once where a row is shorter than a vector
  std::int64_t r = 0;
  if (cols < 16) {
    std::array<double, kGroup * 16> group{};
    for (; r + kGroup <= rows; r += kGroup) AddTo(group.data(), x + r * cols, kGroup * cols);
    for (std::int64_t i = 0; i < kGroup * cols; ++i) sums[i % cols] += group[i];
  }
  for (; r < rows; ++r) AddTo(sums, x + r * cols, cols);
}

void SumArrays(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n) {
  for_lanes(n, [&](auto tag, std::int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(tag, a + i);
    for (std::int64_t t = 1; t < count; ++t) sum = hn::Add(sum, hn::LoadU(tag, a + t * stride + i));
    hn::StoreU(sum, tag, y + i);
  });
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(AddBias);
HWY_EXPORT(ColumnSums);
HWY_EXPORT(SumArrays);

void add_bias(float* x, const float* bias, std::int64_t rows, std::int64_t cols) {
  HWY_DYNAMIC_DISPATCH(AddBias)(x, bias, rows, cols);
}

void column_sums(const float* x, std::int64_t rows, std::int64_t cols, double* sums) {
  HWY_DYNAMIC_DISPATCH(ColumnSums)(x, rows, cols, sums);
}

void sum_arrays(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(SumArrays)(a, count, stride, y, n);
}

}  // namespace lab::simd
#endif
