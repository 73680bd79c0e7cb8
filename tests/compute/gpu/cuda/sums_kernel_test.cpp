#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/gpu/cuda/ops/sums.cuh"
#include "compute/gpu/emulator/launch.h"
#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"
#include "tests/support/element_counts.h"

namespace lab {
namespace {

using simt::GlobalArray;

template <typename T>
std::vector<T> run_add(const std::vector<T>& x, const std::vector<T>& y) {
  const auto n = static_cast<std::int64_t>(x.size());
  GlobalArray<T> a("x", std::span<const T>(x));
  GlobalArray<T> b("y", std::span<const T>(y));
  GlobalArray<T> z("z", x.size());
  const cuda::AddArgs<T> args{a.data(), b.data(), z.data(), n};
  simt::launch({.grid = {static_cast<int>(cuda::add_blocks(n))},
                .block = {cuda::kAddThreads},
                .arrays = {a.input(), b.input(), z}},
               [&] { cuda::add_body(args); });
  std::vector<T> sums;
  for (std::size_t i = 0; i < x.size(); ++i) sums.push_back(z[i]);
  return sums;
}

template <typename T>
std::vector<T> numbers(int n, int step) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values.push_back(static_cast<T>(i * step + 3));
  return values;
}

template <typename T>
void expect_sums() {
  for (const std::int64_t n : test::kElementCounts) {
    SCOPED_TRACE(n);
    const auto x = numbers<T>(static_cast<int>(n), 5), y = numbers<T>(static_cast<int>(n), 11);
    const std::vector<T> sums = run_add(x, y);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(sums[i], static_cast<T>(x[i] + y[i])) << i;
  }
}

TEST(AddKernel, AddsAnyLengthAndType) {
  expect_sums<float>();
  expect_sums<std::int32_t>();
  expect_sums<std::int64_t>();
  expect_sums<std::uint8_t>();  // wraps
}

TEST(AddKernel, RoundsBf16OnceAsOnTheCpu) {
  std::vector<cuda::Bf16Bits> x, y;
  for (int i = 0; i < 1500; ++i) {
    x.push_back({to_bf16(static_cast<float>(i) * 1.37F).bits});
    y.push_back({to_bf16(static_cast<float>(i % 17) * 0.013F - 5).bits});
  }
  const std::vector<cuda::Bf16Bits> sums = run_add(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float exact = to_float({x[i].bits}) + to_float({y[i].bits});
    ASSERT_EQ(sums[i].bits, to_bf16(exact).bits) << i;
  }
}

// Runs both launches of the norm. `blocks` is at most the number that the norm would choose, so
// that threads loop several times.
template <typename T>
double run_sum(const std::vector<T>& x, int blocks) {
  const auto n = static_cast<std::int64_t>(x.size());
  GlobalArray<T> in("x", std::span<const T>(x));
  GlobalArray<double> sums("sums", static_cast<std::size_t>(blocks));
  const cuda::SquaresArgs<T> squares{in.data(), sums.data(), n};
  simt::launch({.grid = {blocks}, .block = {cuda::kNormThreads}, .arrays = {in.input(), sums}},
               [&] { cuda::squares_body(squares); });
  const cuda::TotalArgs total{sums.data(), blocks};
  simt::launch({.grid = {1}, .block = {cuda::kNormThreads}, .arrays = {sums}},
               [&] { cuda::total_body(total); });
  return sums[0];
}

std::vector<float> normal_values(std::size_t n) {
  std::vector<float> values(n);
  RandomStream{11, 0}.fill_normal(values);
  return values;
}

TEST(NormKernel, AgreesWithLongDouble) {
  for (const std::int64_t n : test::kElementCounts) {
    for (const int blocks : {1, 3, cuda::norm_blocks(n)}) {
      SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(blocks) + " blocks");
      const std::vector<float> x = normal_values(static_cast<std::size_t>(n));
      long double exact = 0;
      for (const float v : x) exact += static_cast<long double>(v) * v;
      const auto expected = static_cast<double>(exact);
      EXPECT_NEAR(run_sum(x, blocks), expected, 32 * 0x1p-53 * expected);
    }
  }
}

TEST(NormKernel, LargeValuesDoNotOverflow) {
  EXPECT_DOUBLE_EQ(std::sqrt(run_sum(std::vector<float>{3e38F, 0}, 1)), double{3e38F});
}

TEST(NormKernel, PropagatesNan) {
  EXPECT_TRUE(std::isnan(run_sum(std::vector<float>{1, std::nanf(""), 2}, 1)));
}

TEST(NormKernel, SupportsOtherTypes) {
  EXPECT_EQ(run_sum(std::vector<std::uint8_t>(300, 255), 2), 300.0 * 255 * 255);
  EXPECT_EQ(run_sum(std::vector<std::int32_t>{-3, 4}, 1), 25);
  EXPECT_EQ(run_sum(std::vector<std::int64_t>{-3, 4}, 1), 25);
  EXPECT_EQ(run_sum(std::vector<cuda::Bf16Bits>(5, {to_bf16(1.5F).bits}), 1), 11.25);
}

TEST(NormKernel, ChoosesEnoughBlocksButNotTooMany) {
  EXPECT_EQ(cuda::norm_blocks(1), 1);
  EXPECT_EQ(cuda::norm_blocks(257), 2);
  EXPECT_EQ(cuda::norm_blocks(std::int64_t{1} << 40), cuda::kNormBlocks);
}

}  // namespace
}  // namespace lab
