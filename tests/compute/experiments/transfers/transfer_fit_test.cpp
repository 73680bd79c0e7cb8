#include "compute/experiments/transfers/transfer_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace lab {
namespace {

std::vector<TransferPoint> line(double latency_s, double s_per_byte, double noise = 0) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> error(-noise, noise);
  std::vector<TransferPoint> points;
  for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2) {
    points.push_back({bytes, (latency_s + bytes * s_per_byte) * (1 + error(random))});
  }
  return points;
}

TEST(LatencyModel, RecoversKnownParameters) {
  const auto model = fit_latency_model(line(2e-6, 1e-10));
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->latency_s, 2e-6, 1e-12);
  EXPECT_NEAR(model->s_per_byte, 1e-10, 1e-16);
  EXPECT_NEAR(model->r2, 1, 1e-9);
}

TEST(LatencyModel, RecoversThemThroughNoise) {
  const auto model = fit_latency_model(line(2e-6, 1e-10, 0.05));
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->latency_s, 2e-6, 2e-7);
  EXPECT_NEAR(model->s_per_byte, 1e-10, 5e-12);
  EXPECT_GT(model->r2, 0.99);
  EXPECT_LT(model->r2, 1);
}

TEST(LatencyModel, NeverHasANegativeLatency) {
  // Small sizes that are quicker a byte than large ones, as caches make them.
  const std::vector<TransferPoint> points = {{1e3, 1e-9}, {1e6, 1e-5}, {1e9, 1e-1}};
  const auto model = fit_latency_model(points);
  ASSERT_TRUE(model);
  EXPECT_GE(model->latency_s, 0);
  EXPECT_GT(model->s_per_byte, 0);
}

TEST(LatencyModel, NeedsThreeSizesAndGrowingTime) {
  const std::vector<TransferPoint> two = {{1e3, 1e-6}, {1e6, 1e-4}, {1e6, 1.1e-4}};
  EXPECT_FALSE(fit_latency_model(two));
  EXPECT_FALSE(fit_latency_model({}));
  const std::vector<TransferPoint> falling = {{1e3, 1e-3}, {1e4, 1e-4}, {1e5, 1e-5}};
  EXPECT_FALSE(fit_latency_model(falling));
}

// 20 ns and 10 GB/s from memory, but 100 GB/s below 16 MiB.
std::vector<TransferPoint> cached_line() {
  std::vector<TransferPoint> points;
  for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2) {
    points.push_back({bytes, 2e-8 + bytes * (bytes < (1 << 24) ? 1e-11 : 1e-10)});
  }
  return points;
}

TEST(MemoryModel, SeesThroughTheCaches) {
  const CachedSizes cached{32.0 * 1024, 64.0 * (1 << 20)};
  const auto model = fit_memory_model(cached_line(), cached);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->latency_s, 2e-8, 1e-12);
  EXPECT_NEAR(model->s_per_byte, 1e-10, 1e-14);
  EXPECT_GT(model->r2, 0.8);
  EXPECT_LT(model->r2, 1);
  // One line through everything finds neither.
  const auto line = fit_latency_model(cached_line());
  ASSERT_TRUE(line);
  EXPECT_LT(line->s_per_byte, 0.9e-10);
}

TEST(MemoryModel, TakesTheMeanTimeWhereSmallSizesCostTheSame) {
  std::vector<TransferPoint> points = {{1e3, 3e-7}, {2e3, 2e-7}, {4e3, 1e-7}, {1e9, 1e-1}};
  const auto model = fit_memory_model(points, {1e4, 1e8});
  ASSERT_TRUE(model);
  EXPECT_GT(model->latency_s, 1e-7);
  EXPECT_LT(model->latency_s, 3e-7);
  EXPECT_NEAR(model->s_per_byte, 1e-10, 1e-15);
}

TEST(MemoryModel, AShortSweepGetsOneLine) {
  const std::vector<TransferPoint> points = line(2e-6, 1e-10);
  for (const CachedSizes& cached : {CachedSizes{2048, 1 << 20}, CachedSizes{1 << 15, 1e12}}) {
    const auto model = fit_memory_model(points, cached);
    ASSERT_TRUE(model);
    EXPECT_NEAR(model->latency_s, 2e-6, 1e-12);
    EXPECT_NEAR(model->s_per_byte, 1e-10, 1e-16);
  }
  EXPECT_FALSE(fit_memory_model({}, {1, 2}));
}

TEST(BreakEven, LiesWhereTheLinesCross) {
  // 5 us + b * 0.5e-10 against 1 us + b * 1e-10: equal at 80,000 bytes.
  const auto bytes = break_even_bytes(line(5e-6, 0.5e-10), line(1e-6, 1e-10));
  ASSERT_TRUE(bytes);
  EXPECT_NEAR(*bytes, 80'000, 2'000);
}

TEST(BreakEven, IsTheLastCrossing) {
  const std::vector<TransferPoint> slow = {{1, 1}, {2, 1}, {4, 1}, {8, 1}};
  const std::vector<TransferPoint> quick = {{1, 0.5}, {2, 2}, {4, 0.5}, {8, 0.5}};
  const auto bytes = break_even_bytes(quick, slow);
  ASSERT_TRUE(bytes);
  EXPECT_NEAR(*bytes, 2 * std::sqrt(2.0), 1e-9);
}

TEST(BreakEven, MayBeTheFirstSizeOrNever) {
  EXPECT_EQ(break_even_bytes(line(1e-6, 0.5e-10), line(1e-6, 1e-10)), 1024);
  EXPECT_FALSE(break_even_bytes(line(1e-6, 1e-10), line(1e-6, 0.5e-10)));
  EXPECT_FALSE(break_even_bytes({}, line(1e-6, 1e-10)));
  const std::vector<TransferPoint> other = {{3, 1}};
  EXPECT_FALSE(break_even_bytes(line(1e-6, 1e-10), other));
}

}  // namespace
}  // namespace lab
