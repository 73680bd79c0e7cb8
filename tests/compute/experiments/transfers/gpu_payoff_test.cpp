// From which size on moving work to a GPU pays, on times made up for the purpose.
#include "compute/experiments/transfers/gpu_payoff.h"

#include <gtest/gtest.h>

#include <functional>

#include "compute/core/units.h"

namespace lab {
namespace {

constexpr double kStart_s = 1e-5;  // of a copy through the link
constexpr double kLaunch_s = 5e-6;
constexpr double kLink = 2e-11, kGpu = 5e-13, kHost = 1e-10;  // seconds a byte

MeasuredSeries measured(Device from, Device to, MemoryKind memory, TransferMover mover,
                        const std::function<double(double)>& seconds, int threads = 1) {
  MeasuredSeries made{{from, to, memory, TransferOp::Copy, threads, mover}, {}};
  for (double bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2) {
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

TEST(GpuPayoff, LiesWhereTheTimesCross) {
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
    // Both lines cost the same where 2 starts and the launches equal what a byte saves.
    const double cost_s = 2 * kStart_s + passes * kLaunch_s;
    const double saved = passes * (kHost - kGpu) - 2 * kLink;
    ASSERT_TRUE(found[i].from_bytes);
    EXPECT_NEAR(static_cast<double>(*found[i].from_bytes), cost_s / saved, 0.05 * cost_s / saved);
  }
}

TEST(GpuPayoff, IsReadOffBetweenTwoSizes) {
  // Moved: 2 s, then 0.5 s; at home 1 s: halfway in log size.
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
  // Quicker at home than on the GPU itself.
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

TEST(GpuPayoff, LooksAtSizesThatAllHave) {
  std::vector<MeasuredSeries> all = everything();
  for (MeasuredSeries& one : all) one.points.clear();
  for (const TransferPayoff& one : payoffs(all)) EXPECT_FALSE(one.from_bytes);
  all = {in(), out(), within(), host(1)};
  auto& first = all[2].points;
  first.erase(first.begin());
  for (const TransferPayoff& one : payoffs(all)) EXPECT_EQ(one.from_bytes, 2 * kKiB);
}

TEST(GpuPayoff, TakesTheCpuAtItsBest) {
  const std::vector<MeasuredSeries> all = {host(1, 1), in(),           out(),
                                           within(),   host(kHost, 8), host(1, 2)};
  const auto found = payoffs(all), best = payoffs(everything());
  ASSERT_EQ(found.size(), best.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(found[i].from_bytes, best[i].from_bytes);
  }
}

TEST(GpuPayoff, IsToldForEachGpuAndMemory) {
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
