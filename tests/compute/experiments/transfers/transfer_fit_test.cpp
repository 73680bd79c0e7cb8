#include "compute/experiments/transfers/transfer_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "compute/core/units.h"

namespace lab {
namespace {

std::vector<TransferPoint> line(double latency_s, double s_per_byte, double noise = 0) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> error(-noise, noise);
  std::vector<TransferPoint> points;
  for (int power = 10; power <= 30; ++power) {
    const double bytes = std::exp2(power);
    points.push_back({bytes, (latency_s + bytes * s_per_byte) * (1 + error(random))});
  }
  return points;
}

TEST(LatencyModel, RecoversKnownParameters) {
  const auto model = fit_latency_model(line(2e-6, 1e-10));
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->latency_s, 2e-6, 1e-12);
  EXPECT_NEAR(model->s_per_byte, 1e-10, 1e-16);
  EXPECT_NEAR(model->residual, 0, 1e-9);
}

TEST(LatencyModel, RecoversParametersDespiteNoise) {
  const auto model = fit_latency_model(line(2e-6, 1e-10, 0.05));
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->latency_s, 2e-6, 2e-7);
  EXPECT_NEAR(model->s_per_byte, 1e-10, 5e-12);
  EXPECT_GT(model->residual, 0.01);
  EXPECT_LT(model->residual, 0.05);
}

TEST(LatencyModel, NeverHasANegativeLatency) {
  // Small sizes take less time per byte than large ones, as they do in caches.
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

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// 20 ns and 100 GB/s up to 16 MiB, 10 GB/s from memory.
std::vector<TransferPoint> cached_line() {
  std::vector<TransferPoint> points;
  for (int power = 10; power <= 30; ++power) {
    const double bytes = std::exp2(power);
    points.push_back({bytes, 2e-8 + bytes * (bytes <= (1 << 24) ? 1e-11 : 1e-10)});
  }
  return points;
}

TEST(MemoryLevels, HaveTheirOwnLines) {
  const std::vector<LevelSize> levels = {{"L3", 1 << 24}, {"memory", kUnlimited}};
  const auto found = fit_levels(cached_line(), levels, 2);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "L3");
  EXPECT_EQ(found[0].to_bytes, 1 << 24);
  EXPECT_EQ(found[0].sizes, 15);
  EXPECT_NEAR(found[0].latency_s, 2e-8, 1e-12);
  EXPECT_NEAR(found[0].gb_per_s, 200, 0.1) << "two bytes are moved per byte of an array";
  EXPECT_NEAR(found[1].gb_per_s, 20, 0.01);
  EXPECT_EQ(found[1].to_bytes, 0);
  for (const TransferLevel& level : found) EXPECT_TRUE(level.holds()) << level.residual;
}

TEST(MemoryLevels, WithholdALineThatMissesItsSamples) {
  const std::vector<LevelSize> all = {{"memory", kUnlimited}};
  const auto found = fit_levels(cached_line(), all, 2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0].gb_per_s, 0);
  EXPECT_GT(found[0].residual, kMaxTransferResidual);
  EXPECT_FALSE(found[0].holds());
}

TEST(MemoryLevels, NeedThreeSizesForALine) {
  const std::vector<TransferPoint> points = line(2e-6, 1e-10);
  const std::vector<LevelSize> levels = {{"L1", 2048}, {"L2", 2100}, {"memory", kUnlimited}};
  const auto found = fit_levels(points, levels, 1);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].sizes, 2);
  EXPECT_FALSE(found[0].holds());
  EXPECT_EQ(found[1].to_bytes, 2100) << "where memory begins, although no size is in L2";
  EXPECT_EQ(found[1].sizes, 0);
  EXPECT_FALSE(found[1].holds());
  EXPECT_EQ(found[2].name, "memory");
  EXPECT_TRUE(found[2].holds());
  const std::vector<TransferPoint> middle = {{2090, 1e-6}};
  const auto only = fit_levels(middle, levels, 1);
  ASSERT_EQ(only.size(), 1U) << "neither before the first size nor after the last";
  EXPECT_EQ(only[0].name, "L2");
  EXPECT_TRUE(fit_levels({}, levels, 1).empty());
}

TEST(FasterRange, IsReadFromTheSamples) {
  const std::vector<TransferPoint> slow = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}};
  const std::vector<TransferPoint> quick = {{1, 2}, {2, 0.5}, {4, 0.5}, {8, 0.6}, {16, 1.02}};
  const auto range = faster_range(quick, slow);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from_bytes, 2);
  EXPECT_EQ(range->to_bytes, 8) << "equal at 16 bytes";
}

TEST(FasterRange, IgnoresNoiseAtOneSize) {
  // 4 % slower at one size, and equal at the largest: one latency and bandwidth would have moved
  // the crossing there.
  const std::vector<TransferPoint> slow = {{1, 1}, {2, 1}, {4, 1}, {8, 1}};
  const std::vector<TransferPoint> quick = {{1, 2}, {2, 0.5}, {4, 1.04}, {8, 0.5}};
  const auto range = faster_range(quick, slow);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->from_bytes, 2);
  EXPECT_FALSE(range->to_bytes) << "to the largest size measured";
}

TEST(FasterRange, IsTheLongestAndMayBeEmpty) {
  const std::vector<TransferPoint> slow = {{1, 1}, {2, 1}, {4, 1}, {8, 1}};
  const std::vector<TransferPoint> twice = {{1, 0.5}, {2, 2}, {4, 0.5}, {8, 0.5}};
  ASSERT_TRUE(faster_range(twice, slow));
  EXPECT_EQ(faster_range(twice, slow)->from_bytes, 4);
  EXPECT_FALSE(faster_range(slow, slow));
  EXPECT_FALSE(faster_range(slow, {}));
}

TEST(BreakEven, IsWhereTheLinesCross) {
  // 5 us + b * 0.5e-10 s/byte and 1 us + b * 1e-10 s/byte are equal at 80,000 bytes.
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

// Break-even size for moving work to a GPU, from synthetic times.
constexpr double kStart_s = 1e-5;  // per copy over the link
constexpr double kLaunch_s = 5e-6;
constexpr double kLink = 2e-11, kGpu = 5e-13, kHost = 1e-10;  // seconds per byte

MeasuredSeries measured(Device from, Device to, MemoryKind memory, TransferMover mover,
                        const std::function<double(double)>& seconds, int threads = 1) {
  MeasuredSeries made{{from, to, memory, TransferOp::Copy, threads, mover}, {}};
  for (int power = 10; power <= 30; ++power) {
    const double bytes = std::exp2(power);
    made.points.push_back({bytes, seconds(bytes)});
  }
  return made;
}

double through_link(double bytes) {
  return kStart_s + bytes * kLink;
}
double on_gpu(double bytes) {
  return kLaunch_s + bytes * kGpu;
}

MeasuredSeries in(MemoryKind memory = MemoryKind::Pinned, int index = 0) {
  return measured(cpu(), gpu(index), memory, TransferMover::CopyEngine, through_link);
}
MeasuredSeries out(MemoryKind memory = MemoryKind::Pinned, int index = 0) {
  return measured(gpu(index), cpu(), memory, TransferMover::CopyEngine, through_link);
}
MeasuredSeries within(int index = 0) {
  return measured(gpu(index), gpu(index), MemoryKind::OnGpu, TransferMover::CopyEngine, on_gpu);
}
MeasuredSeries host(double s_per_byte = kHost, int threads = 8) {
  return measured(
      cpu(), cpu(), MemoryKind::Pageable, TransferMover::Threads,
      [=](double bytes) { return bytes * s_per_byte; }, threads);
}
std::vector<MeasuredSeries> everything() {
  return {in(), out(), within(), host()};
}

TEST(GpuPayoff, IsWhereTheTimesCross) {
  const auto found = payoffs(everything());
  ASSERT_EQ(found.size(), 3U);
  constexpr int kPasses[] = {1, 10, 100};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const int passes = kPasses[i];
    SCOPED_TRACE(passes);
    EXPECT_EQ(found[i].host, cpu());
    EXPECT_EQ(found[i].gpu, gpu());
    EXPECT_EQ(found[i].memory, MemoryKind::Pinned);
    EXPECT_EQ(found[i].passes, passes);
    // At break-even, the time saved per byte pays for two copy latencies and the launches.
    const double cost_s = 2 * kStart_s + passes * kLaunch_s;
    const double saved = passes * (kHost - kGpu) - 2 * kLink;
    ASSERT_TRUE(found[i].from_bytes);
    EXPECT_NEAR(static_cast<double>(*found[i].from_bytes), cost_s / saved, 0.05 * cost_s / saved);
  }
}

TEST(GpuPayoff, IsInterpolatedBetweenTwoSizes) {
  // On the GPU with copies 2 s, then 0.5 s; on the host 1 s. They cross halfway in log size.
  const auto two = [](MeasuredSeries series, double first_s, double second_s) {
    series.points = {{1 << 20, first_s}, {1 << 22, second_s}};
    return series;
  };
  const std::vector<MeasuredSeries> all = {two(in(), 0.5, 0.125), two(out(), 0.5, 0.125),
                                           two(within(), 1, 0.25), two(host(), 1, 1)};
  const auto found = payoffs(all);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].from_bytes, 1 << 21);
}

TEST(GpuPayoff, IsTheFirstSizeWhereTheGpuAlwaysWins) {
  const std::vector<MeasuredSeries> all = {in(), out(), within(), host(1)};
  for (const TransferPayoff& one : payoffs(all)) EXPECT_EQ(one.from_bytes, kKiB);
}

TEST(GpuPayoff, IsEmptyWhereTheGpuNeverWins) {
  // The host is faster than the GPU even without copies.
  const std::vector<MeasuredSeries> all = {in(), out(), within(), host(kGpu / 2)};
  const auto found = payoffs(all);
  ASSERT_EQ(found.size(), 3U);
  for (const TransferPayoff& one : found) EXPECT_FALSE(one.from_bytes);
}

TEST(GpuPayoff, NeedsAllFourSeries) {
  EXPECT_TRUE(payoffs({}).empty());
  for (std::size_t i = 0; i < everything().size(); ++i) {
    SCOPED_TRACE(i);
    std::vector<MeasuredSeries> some = everything();
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(payoffs(some).empty());
  }
  const std::vector<MeasuredSeries> other_memory = {in(), out(MemoryKind::Pageable), within(),
                                                    host()};
  EXPECT_TRUE(payoffs(other_memory).empty());
  const std::vector<MeasuredSeries> other_gpu = {in(), out(), within(1), host()};
  EXPECT_TRUE(payoffs(other_gpu).empty());
  std::vector<MeasuredSeries> by_kernel = everything();
  by_kernel[2].series.mover = TransferMover::Kernel;
  EXPECT_TRUE(payoffs(by_kernel).empty());
  std::vector<MeasuredSeries> other_op = everything();
  other_op[3].series.op = TransferOp::Triad;
  EXPECT_TRUE(payoffs(other_op).empty());
}

TEST(GpuPayoff, UsesOnlyCommonSizes) {
  std::vector<MeasuredSeries> all = everything();
  for (MeasuredSeries& one : all) one.points.clear();
  for (const TransferPayoff& one : payoffs(all)) EXPECT_FALSE(one.from_bytes);
  all = {in(), out(), within(), host(1)};
  auto& first = all[2].points;
  first.erase(first.begin());
  for (const TransferPayoff& one : payoffs(all)) EXPECT_EQ(one.from_bytes, 2 * kKiB);
}

TEST(GpuPayoff, UsesTheBestCpuTime) {
  const std::vector<MeasuredSeries> all = {host(1, 1), in(),           out(),
                                           within(),   host(kHost, 8), host(1, 2)};
  const auto found = payoffs(all), best = payoffs(everything());
  ASSERT_EQ(found.size(), best.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(found[i].from_bytes, best[i].from_bytes);
  }
}

TEST(GpuPayoff, IsReportedForEachGpuAndMemory) {
  std::vector<MeasuredSeries> all = {host()};
  for (const int gpu : {0, 1}) {
    all.push_back(within(gpu));
    for (const MemoryKind memory : {MemoryKind::Pageable, MemoryKind::Pinned}) {
      all.push_back(in(memory, gpu));
      all.push_back(out(memory, gpu));
    }
  }
  const auto found = payoffs(all);
  ASSERT_EQ(found.size(), 12U);
  EXPECT_EQ(found[0].gpu, gpu(0));
  EXPECT_EQ(found[0].memory, MemoryKind::Pageable);
  EXPECT_EQ(found[3].memory, MemoryKind::Pinned);
  EXPECT_EQ(found[11].gpu, gpu(1));
}

}  // namespace
}  // namespace lab
