#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compute/gpu/cuda/ops/norm.cuh"
#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"
#include "tests/support/element_counts.h"
#include "tests/support/simt/launch.h"

namespace lab {
namespace {

using simt::GlobalArray;

// Both launches of norm.cu; `blocks` at most what it would choose, so that threads take several
// turns.
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

TEST(NormKernel, NanStaysNan) {
  EXPECT_TRUE(std::isnan(run_sum(std::vector<float>{1, std::nanf(""), 2}, 1)));
}

TEST(NormKernel, OtherTypes) {
  EXPECT_EQ(run_sum(std::vector<std::uint8_t>(300, 255), 2), 300.0 * 255 * 255);
  EXPECT_EQ(run_sum(std::vector<std::int32_t>{-3, 4}, 1), 25);
  EXPECT_EQ(run_sum(std::vector<std::int64_t>{-3, 4}, 1), 25);
  EXPECT_EQ(run_sum(std::vector<cuda::Bf16Bits>(5, {to_bf16(1.5F).bits}), 1), 11.25);
}

TEST(NormKernel, EnoughBlocksAndNotTooMany) {
  EXPECT_EQ(cuda::norm_blocks(1), 1);
  EXPECT_EQ(cuda::norm_blocks(257), 2);
  EXPECT_EQ(cuda::norm_blocks(std::int64_t{1} << 40), cuda::kNormBlocks);
}

}  // namespace
}  // namespace lab
