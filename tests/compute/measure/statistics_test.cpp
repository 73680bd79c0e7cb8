#include "compute/measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lab {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::vector<double> x = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(x, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(x, 1), 8);
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{5}, 0.9), 5);
}

// From tables of the sign test: ranks, here 0-based, of the median's 95 % confidence interval.
TEST(MedianInterval, MatchesTheTable) {
  using Ranks = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(median_interval(1), Ranks(0, 0));
  EXPECT_EQ(median_interval(5), Ranks(0, 4));
  EXPECT_EQ(median_interval(6), Ranks(0, 5));
  EXPECT_EQ(median_interval(8), Ranks(0, 7));
  EXPECT_EQ(median_interval(9), Ranks(1, 7));
  EXPECT_EQ(median_interval(10), Ranks(1, 8));
  EXPECT_EQ(median_interval(20), Ranks(5, 14));
  EXPECT_EQ(median_interval(50), Ranks(17, 32));
}

// Probability that the median lies between the order statistics, summed term by term.
double coverage(std::int64_t n) {
  const auto [low, high] = median_interval(n);
  double inside = 0;
  for (std::int64_t i = low + 1; i <= high; ++i) {
    const auto x = static_cast<double>(i);
    const auto count = static_cast<double>(n);
    inside += std::exp(std::lgamma(count + 1) - std::lgamma(x + 1) - std::lgamma(count - x + 1) -
                       count * std::log(2.0));
  }
  return inside;
}

TEST(MedianInterval, Covers95PercentAndIsSymmetric) {
  for (std::int64_t n = 6; n < 1000; ++n) {
    const auto [low, high] = median_interval(n);
    ASSERT_EQ(low, n - 1 - high);
    ASSERT_GE(coverage(n), n <= 200 ? 0.95 : 0.945) << n;
  }
}

TEST(MedianSpread, IsIntervalWidthOverMedian) {
  EXPECT_TRUE(std::isinf(median_spread(std::vector<double>{1, 1, 1, 1, 1})));
  EXPECT_DOUBLE_EQ(median_spread(std::vector<double>(6, 3.0)), 0);
  const std::vector<double> ten = {1, 9, 10, 10, 10, 10, 10, 10, 11, 50};
  EXPECT_DOUBLE_EQ(median_spread(ten), 0.2);  // ranks 1 and 8: (11 - 9) / 10
}

TEST(Summarise, MatchesAKnownSequence) {
  std::vector<double> x;
  for (int i = 11; i >= 1; --i) x.push_back(i);
  const Timing t = summarise(x);
  EXPECT_EQ(t.n, 11);
  EXPECT_DOUBLE_EQ(t.median_s, 6);
  EXPECT_DOUBLE_EQ(t.p10_s, 2);
  EXPECT_DOUBLE_EQ(t.p90_s, 10);
  EXPECT_DOUBLE_EQ(t.min_s, 1);
  EXPECT_DOUBLE_EQ(t.max_s, 11);
  std::vector<double> none;
  EXPECT_EQ(summarise(none).n, 0);
}

}  // namespace
}  // namespace lab
