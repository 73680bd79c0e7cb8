// Kernels with special paths for few channels or columns, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compute/kernels/ops/activations.h"
#include "compute/kernels/ops/average_pool.h"
#include "compute/kernels/ops/row_ops.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"

namespace lab::simd {
namespace {

constexpr float kRowGuard = 12345;

// Values followed by guards.
struct Guarded {
  explicit Guarded(std::vector<float> values) : memory(std::move(values)), size(memory.size()) {
    memory.insert(memory.end(), 16, kRowGuard);
  }
  ~Guarded() {
    EXPECT_TRUE(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(size), memory.end(),
                            [](float v) { return v == kRowGuard; }));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  float* data() { return memory.data(); }
  std::span<const float> values() const { return std::span(memory).first(size); }

  std::vector<float> memory;
  std::size_t size;
};

// Calls visit(x index, y index) for every output element and each input element of its window.
template <typename Visit>
void each_pair(const PoolShape& s, std::int64_t images, const Visit& visit) {
  for (std::int64_t i = 0; i < images * s.out_size(); ++i) {
    const std::int64_t c = i % s.channels, ox = i / s.channels % s.out_w();
    const std::int64_t oy = i / (s.channels * s.out_w()) % s.out_h(), n = i / s.out_size();
    for (std::int64_t k = 0; k < s.kernel_h * s.kernel_w; ++k) {
      const std::int64_t y = oy * s.stride + k / s.kernel_w, x = ox * s.stride + k % s.kernel_w;
      visit(static_cast<std::size_t>(((n * s.in_h + y) * s.in_w + x) * s.channels + c),
            static_cast<std::size_t>(i));
    }
  }
}

void check_pool(const PoolShape& s, std::int64_t images) {
  const double window = static_cast<double>(s.kernel_h * s.kernel_w);
  const auto x = test::small_integers(images * s.in_size(), 1);
  const auto dy = test::small_integers(images * s.out_size(), 2);
  std::vector<double> y_want(dy.size()), dx_want(x.size());
  each_pair(s, images, [&](std::size_t in, std::size_t out) {
    y_want[out] += x[in] / window;
    dx_want[in] += dy[out] / window;
  });
  Guarded y(std::vector<float>(dy.size(), NAN)), dx(std::vector<float>(x.size(), NAN)), sum(x);
  average_pool(x.data(), y.data(), s, images);
  EXPECT_TRUE(test::all_close(y.values(), y_want, 1e-6, 1e-6));
  average_pool_backward(dy.data(), dx.data(), s, images, /*accumulate=*/false);
  EXPECT_TRUE(test::all_close(dx.values(), dx_want, 1e-6, 1e-6));
  average_pool_backward(dy.data(), sum.data(), s, images, /*accumulate=*/true);
  for (std::size_t i = 0; i < x.size(); ++i) dx_want[i] += x[i];
  EXPECT_TRUE(test::all_close(sum.values(), dx_want, 1e-6, 1e-5));

  Guarded with_sigmoid(std::vector<float>(x.size(), NAN));
  sigmoid_average_pool_backward(x.data(), dy.data(), with_sigmoid.data(), s, images);
  sigmoid_backward(x.data(), dx.data(), static_cast<std::int64_t>(x.size()));
  EXPECT_TRUE(std::ranges::equal(with_sigmoid.values(), dx.values())) << "the same bits";
}

TEST(SimdAveragePool, MatchesItsDefinitionOnEveryTarget) {
  test::for_each_simd_target([] {
    for (const std::int64_t channels : {1, 3, 4, 5, 6, 8, 9, 16, 17}) {
      SCOPED_TRACE("channels " + std::to_string(channels));
      for (const std::int64_t images : {1, 2, 5}) {
        check_pool({4, 6, channels, 2, 2, 2}, images);
        check_pool({6, 9, channels, 3, 3, 3}, images);
        check_pool({5, 7, channels, 2, 2, 2}, images);  // one row and one column are in no window
        check_pool({7, 5, channels, 3, 3, 2}, images);  // windows overlap
        check_pool({3, 5, channels, 3, 5, 1}, images);
      }
    }
  });
}

TEST(SimdSigmoid, IsWithinFourUlpOnEveryTarget) {
  std::vector<float> x;
  constexpr int kSteps = 60000;  // from 1e-6 to 65
  for (int i = 0; i < kSteps; ++i) {
    const auto v = static_cast<float>(1e-6 * std::exp(3e-4 * i));
    x.insert(x.end(), {v, -v});
  }
  test::for_each_simd_target([&] {
    std::vector<float> y = x;
    sigmoid(y.data(), static_cast<std::int64_t>(y.size()));
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = 1 / (1 + std::exp(-double{x[i]}));
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(want), -126) - 23);
      worst = std::max(worst, std::abs(y[i] - want) / ulp);
    }
    EXPECT_LE(worst, 4);
  });
}

TEST(SimdRows, SumsAreExactOnEveryTarget) {
  test::for_each_simd_target([] {
    for (const std::int64_t cols : {1, 2, 3, 6, 10, 16, 17, 20, 64, 84, 130}) {
      for (const std::int64_t rows : {0, 1, 3, 8, 37}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
        const auto x = test::small_integers(rows * cols, 3);
        std::vector<double> sums(static_cast<std::size_t>(cols), 1.0), want = sums;
        for (std::size_t i = 0; i < x.size(); ++i) want[i % want.size()] += x[i];
        column_sums(x.data(), rows, cols, sums.data());
        EXPECT_EQ(sums, want);
      }
    }
  });
}

}  // namespace
}  // namespace lab::simd
