// The vector loops of compute/kernels/ops on lengths around vector sizes and at misaligned
// addresses, for each SIMD instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "compute/kernels/ops/activations.h"
#include "compute/kernels/ops/batch_norm.h"
#include "compute/kernels/ops/im2col.h"
#include "compute/kernels/ops/row_ops.h"
#include "compute/kernels/ops/vector_ops.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"

namespace lab::simd {
namespace {

using test::uniform_values;

constexpr std::int64_t kLengths[] = {0, 1, 3, 4, 7, 15, 16, 17, 31, 64, 101};
constexpr float kGuard = 12345;

// `values` at an address one float past a vector boundary, between guard values.
struct Misaligned {
  explicit Misaligned(const std::vector<float>& values) : memory(values.size() + 2, kGuard) {
    std::copy(values.begin(), values.end(), data());
  }
  ~Misaligned() {
    EXPECT_EQ(memory.front(), kGuard);
    EXPECT_EQ(memory.back(), kGuard);
  }
  Misaligned(const Misaligned&) = delete;
  Misaligned& operator=(const Misaligned&) = delete;
  float* data() { return memory.data() + 1; }
  std::span<const float> values() const { return std::span(memory).subspan(1, memory.size() - 2); }
  std::vector<float> memory;
};

// Each test runs with the kernels of every instruction set.
class SimdRelu : public test::SimdTargetTest {};
class SimdSigmoid : public test::SimdTargetTest {};
class SimdRows : public test::SimdTargetTest {};
class SimdNorm : public test::SimdTargetTest {};
class SimdPixels : public test::SimdTargetTest {};
class SimdIm2col : public test::SimdTargetTest {};

TEST_P(SimdRelu, ClampsAndKeepsNaN) {
  for (const std::int64_t n : kLengths) {
    const auto x = uniform_values(n, 1), dy = uniform_values(n, 2);
    Misaligned y(x), g(dy);
    relu(y.data(), n);
    relu_backward(y.data(), g.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y.values()[i], std::max(x[i], 0.0F));
      EXPECT_EQ(g.values()[i], x[i] > 0 ? dy[i] : 0.0F);
    }
  }
  std::vector<float> nan(19, NAN);
  relu(nan.data(), 19);
  for (const float v : nan) EXPECT_TRUE(std::isnan(v));
}

TEST_P(SimdSigmoid, MatchesFloat64ForLargeInputs) {
  for (const std::int64_t n : kLengths) {
    auto x = uniform_values(n, 3);
    for (float& v : x) v *= 80;
    std::vector<double> want;
    want.reserve(x.size());
    for (const float v : x) want.push_back(1 / (1 + std::exp(-double{v})));
    Misaligned y(x);
    sigmoid(y.data(), n);
    EXPECT_TRUE(test::all_close(y.values(), want, 1e-6, 1e-37));
  }
  float ends[] = {-INFINITY, INFINITY, -1000, 1000, NAN};
  sigmoid(ends, 5);
  EXPECT_NEAR(ends[0], 0, 1e-37);
  EXPECT_EQ(ends[1], 1);
  EXPECT_NEAR(ends[2], 0, 1e-37);
  EXPECT_EQ(ends[3], 1);
  EXPECT_TRUE(std::isnan(ends[4]));
  for (const std::uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7fc00001U, 0xffffffffU}) {
    std::vector<float> nan(19, std::bit_cast<float>(bits));
    sigmoid(nan.data(), 19);
    for (const float v : nan) EXPECT_TRUE(std::isnan(v)) << std::hex << bits;
  }
}

TEST_P(SimdRows, BiasAndSumsCoverEveryColumn) {
  for (const std::int64_t cols : {1, 2, 5, 6, 15, 16, 17, 40}) {
    for (const std::int64_t rows : {0, 1, 7, 8, 33}) {
      const auto x = test::small_integers(rows * cols, 4), bias = test::small_integers(cols, 5);
      Misaligned y(x);
      add_bias(y.data(), bias.data(), rows, cols);
      std::vector<double> sums(static_cast<std::size_t>(cols), 1.0), want = sums;
      column_sums(y.data(), rows, cols, sums.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t c = i % static_cast<std::size_t>(cols);
        EXPECT_EQ(y.values()[i], x[i] + bias[c]);
        want[c] += double{x[i]} + bias[c];
      }
      EXPECT_EQ(sums, want);
    }
  }
}

TEST_P(SimdRows, SumOfArraysKeepsTheOrder) {
  const auto parts = test::small_integers(3 * 50, 6);
  for (const std::int64_t n : kLengths) {
    if (n > 50) continue;
    Misaligned y(std::vector<float>(static_cast<std::size_t>(n)));
    sum_arrays(parts.data(), 3, 50, y.data(), n);
    for (std::size_t i = 0; i < y.values().size(); ++i) {
      EXPECT_EQ(y.values()[i], parts[i] + parts[50 + i] + parts[100 + i]);
    }
  }
}

// With a spread of 1e-5 of the mean, squares around 0 would lose ten digits.
TEST_P(SimdNorm, SumsKeepSmallVariances) {
  constexpr std::int64_t kRows = 300;
  for (const std::int64_t cols : {1, 3, 16, 17, 40}) {
    const auto n = static_cast<std::size_t>(cols);
    std::vector<float> x = uniform_values(kRows * cols, 21);
    for (float& v : x) v = 1000.0F + 0.01F * v;
    std::vector<double> sums(n), squares(n);
    centred_sums(x.data(), x.data(), kRows, cols, sums.data(), squares.data());
    for (std::size_t c = 0; c < n; ++c) {
      double mean = 0, variance = 0;
      for (std::size_t r = 0; r < kRows; ++r) mean += x[r * n + c] / double{kRows};
      for (std::size_t r = 0; r < kRows; ++r) {
        variance += (x[r * n + c] - mean) * (x[r * n + c] - mean) / kRows;
      }
      const double from_centre = sums[c] / kRows;
      EXPECT_NEAR(x[c] + from_centre, mean, 1e-9);
      EXPECT_NEAR(squares[c] / kRows - from_centre * from_centre, variance, 1e-9 * variance);
    }
  }
}

// Backward may compute the relu's output from x, or store its gradient: the same bits.
TEST_P(SimdNorm, BackwardNeedsNoOutput) {
  constexpr std::int64_t kRows = 50;
  std::ptrdiff_t off = 0;  // values for which relu matters
  for (const std::int64_t cols : {1, 3, 16, 17, 40}) {
    const auto x = uniform_values(kRows * cols, 11);
    const auto dy = uniform_values(kRows * cols, 12), mean = uniform_values(cols, 13);
    const auto scale = uniform_values(cols, 14), shift = uniform_values(cols, 15);
    const NormArgs args{mean.data(), scale.data(), shift.data(), /*relu=*/true};
    const NormArgs without_relu{mean.data(), scale.data(), shift.data(), /*relu=*/false};
    std::vector<float> y(x.size());
    normalise(x.data(), nullptr, y.data(), args, kRows, cols);
    off += std::count(y.begin(), y.end(), 0.0F);
    const auto sums_of = [&](const float* from, const float* output, float* g) {
      const auto n = static_cast<std::size_t>(cols);
      std::vector<double> result(2 * n);
      norm_backward_sums(x.data(), output, from, args, kRows, cols, result.data(),
                         result.data() + n, g);
      return result;
    };
    const auto gradient = [&](const std::vector<float>& g, const NormArgs& args_of_g) {
      std::vector<float> dx = g;
      norm_backward(x.data(), dx.data(), dx.data(), args_of_g, mean.data(), shift.data(), kRows,
                    cols);
      return dx;
    };
    std::vector<float> g(x.size()), in_place = dy;
    const std::vector<double> sums = sums_of(dy.data(), nullptr, nullptr);
    EXPECT_EQ(sums_of(dy.data(), y.data(), g.data()), sums) << cols;
    EXPECT_EQ(sums_of(in_place.data(), y.data(), in_place.data()), sums) << cols;
    EXPECT_EQ(in_place, g) << cols;
    EXPECT_EQ(gradient(dy, args), gradient(g, without_relu)) << cols;
  }
  EXPECT_GT(off, 0);
}

TEST_P(SimdPixels, AreDividedExactly) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{5}, std::int64_t{255}}) {
    Misaligned y(std::vector<float>(static_cast<std::size_t>(n)));
    pixels_to_floats(bytes.data() + 1, y.data(), n);
    for (std::size_t i = 0; i < y.values().size(); ++i) {
      EXPECT_EQ(y.values()[i], static_cast<float>(i + 1) / 255.0F);
    }
  }
}

// col2im is the adjoint of im2col: <im2col(x), c> = <x, col2im(c)>, exact on small integers.
TEST_P(SimdIm2col, IsTheAdjointOfCol2im) {
  for (const ConvShape& s : {conv_shape(5, 4, 3, 1, 3, 1, 1), conv_shape(7, 7, 1, 1, 5, 2, 2),
                             conv_shape(3, 2, 17, 1, 1, 2, 0), conv_shape(2, 2, 2, 1, 3, 1, 3),
                             conv_shape(4, 3, 16, 1, 3, 2, 1)}) {
    const std::int64_t rows = 2 * s.out_pixels();
    const auto x = test::small_integers(2 * s.in_size() + kIm2colSlack, 7);
    const auto c = test::small_integers(rows * s.patch(), 8);
    std::vector<float> col(c.size() + kIm2colSlack), dx(static_cast<std::size_t>(2 * s.in_size()));
    im2col(x.data(), col.data(), s, 0, rows);
    col2im(c.data(), dx.data(), s, 0, rows);
    double left = 0, right = 0;
    for (std::size_t i = 0; i < c.size(); ++i) left += double{col[i]} * c[i];
    for (std::size_t i = 0; i < dx.size(); ++i) right += double{dx[i]} * x[i];
    EXPECT_EQ(left, right);

    const std::int64_t first = rows / 3;  // not the first row of an image
    std::vector<float> tail(col.size());
    im2col(x.data(), tail.data(), s, first, rows);
    tail.resize(static_cast<std::size_t>((rows - first) * s.patch()));
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), col.begin() + first * s.patch()));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SimdRelu, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);
INSTANTIATE_TEST_SUITE_P(Targets, SimdSigmoid, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);
INSTANTIATE_TEST_SUITE_P(Targets, SimdRows, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);
INSTANTIATE_TEST_SUITE_P(Targets, SimdNorm, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);
INSTANTIATE_TEST_SUITE_P(Targets, SimdPixels, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);
INSTANTIATE_TEST_SUITE_P(Targets, SimdIm2col, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);

}  // namespace
}  // namespace lab::simd
