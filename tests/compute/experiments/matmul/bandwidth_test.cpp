#include "compute/experiments/matmul/ceilings.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/kernels/ops/read_sum.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

std::vector<std::string> names_of(const std::vector<WorkingSet>& sets) {
  std::vector<std::string> names;
  names.reserve(sets.size());
  for (const WorkingSet& set : sets) names.push_back(set.name);
  return names;
}

TEST(ReadSum, AddsEveryWordOncePerPass) {
  std::vector<std::uint64_t> words(4200);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = (i + 1) * 0x9E3779B97F4A7C15U;
  for (const std::int64_t n : {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 1000, 4099}) {
    for (const std::size_t offset : {0, 1, 3, 7}) {
      for (const std::int64_t passes : {0, 1, 3}) {
        SCOPED_TRACE(::testing::Message() << n << " words from " << offset << ", " << passes);
        std::uint64_t once = 0;
        for (std::int64_t i = 0; i < n; ++i) once += words[offset + static_cast<std::size_t>(i)];
        EXPECT_EQ(simd::read_sum(words.data() + offset, n, passes),
                  once * static_cast<std::uint64_t>(passes));
      }
    }
  }
}

TEST(WorkingSets, UseHalfOfAThreadsShareAndFourTimesTheCachesForMemory) {
  const std::vector<CacheInfo> caches = {
      {1, 48 * kKiB, 2, 64}, {2, kMiB, 2, 64}, {3, 32 * kMiB, 1, 64}};
  const auto sets = choose_working_sets(caches, 2, kGiB);
  ASSERT_EQ(names_of(sets), (std::vector<std::string>{"L1", "L2", "L3", "memory"}));
  for (const WorkingSet& set : sets) EXPECT_EQ(set.skip_reason, "");
  EXPECT_EQ(sets[0].bytes_per_thread, 24 * kKiB);
  EXPECT_EQ(sets[0].cache_bytes, 96 * kKiB);
  EXPECT_EQ(sets[1].bytes_per_thread, 512 * kKiB);
  EXPECT_EQ(sets[2].bytes_per_thread, 8 * kMiB);
  EXPECT_EQ(sets[2].cache_bytes, 32 * kMiB);
  EXPECT_EQ(sets[3].bytes_per_thread, 64 * kMiB);
  EXPECT_EQ(sets[3].cache_bytes, 0);
}

TEST(WorkingSets, ExceedALargeLowerLevel) {
  // Half of a thread's 3 MiB share of L3 would be read mostly from 1.25 MiB of L2.
  const std::vector<CacheInfo> caches = {
      {1, 48 * kKiB, 4, 64}, {2, 5 * kMiB / 4, 4, 64}, {3, 12 * kMiB, 1, 64}};
  const auto sets = choose_working_sets(caches, 4, kGiB);
  EXPECT_EQ(sets[2].bytes_per_thread, 3 * kMiB / 2 + 5 * kMiB / 4);
  EXPECT_EQ(sets[2].skip_reason, "");
}

TEST(WorkingSets, SkipALevelNoLargerThanTheLowerOne) {
  const std::vector<CacheInfo> caches = {
      {1, 32 * kKiB, 4, 64}, {2, 2 * kMiB, 4, 64}, {3, 4 * kMiB, 1, 64}};
  const auto sets = choose_working_sets(caches, 4, kGiB);
  EXPECT_EQ(sets[2].bytes_per_thread, 0);
  EXPECT_NE(sets[2].skip_reason.find("1.00 MiB"), std::string::npos) << sets[2].skip_reason;
  EXPECT_NE(sets[2].skip_reason.find("L2"), std::string::npos) << sets[2].skip_reason;
}

TEST(WorkingSets, FitTheSmallestCacheWhereCoresDiffer) {
  const std::vector<CacheInfo> caches = {{1, 48 * kKiB, 2, 64}, {1, 32 * kKiB, 2, 64}};
  const auto sets = choose_working_sets(caches, 4, kGiB);
  EXPECT_EQ(sets[0].bytes_per_thread, 16 * kKiB);
  EXPECT_EQ(sets[0].cache_bytes, 160 * kKiB);
}

TEST(WorkingSets, FitTheSmallestShareOfACache) {
  // A 2 MiB cache for one core, and one of 2 MiB for four.
  const std::vector<CacheInfo> caches = {{2, 2 * kMiB, 3, 64, {{0}, {1}, {2, 3, 4, 5}}}};
  EXPECT_EQ(choose_working_sets(caches, 6, kGiB)[1].bytes_per_thread, 256 * kKiB);
}

TEST(WorkingSets, SkipMissingLevelsWithAReason) {
  const std::vector<CacheInfo> no_third = {{1, 32 * kKiB, 1, 64}, {2, 512 * kKiB, 1, 64}};
  const auto sets = choose_working_sets(no_third, 1, kGiB);
  ASSERT_EQ(names_of(sets), (std::vector<std::string>{"L1", "L2", "L3", "memory"}));
  EXPECT_EQ(sets[1].bytes_per_thread, 256 * kKiB);
  EXPECT_EQ(sets[2].bytes_per_thread, 0);
  EXPECT_EQ(sets[2].skip_reason, "the machine reports no L3 cache");
  EXPECT_EQ(sets[3].bytes_per_thread, 64 * kMiB);
  const auto none = choose_working_sets({}, 2, kGiB);
  ASSERT_EQ(none.size(), 4U);
  EXPECT_EQ(none[0].skip_reason, "the machine reports no L1 cache");
  EXPECT_EQ(none[3].bytes_per_thread, 64 * kMiB);
}

TEST(WorkingSets, SkipMemoryIfTooLittleIsFree) {
  const std::vector<CacheInfo> caches = {{3, 32 * kMiB, 1, 64}};
  EXPECT_EQ(choose_working_sets(caches, 1, 64 * kMiB)[3].bytes_per_thread, 64 * kMiB);
  const WorkingSet memory = choose_working_sets(caches, 1, 63 * kMiB)[3];
  EXPECT_EQ(memory.bytes_per_thread, 0);
  EXPECT_NE(memory.skip_reason.find("64.0 MiB"), std::string::npos) << memory.skip_reason;
  EXPECT_EQ(choose_working_sets(caches, 1, -5)[3].bytes_per_thread, 0);
}

TEST(WorkingSets, SkipACacheThatIsLargerThanTheFreeMemory) {
  const std::vector<CacheInfo> caches = {{2, 8 * kMiB, 2, 64}, {3, 480 * kMiB, 1, 64}};
  const auto sets = choose_working_sets(caches, 2, 239 * kMiB);
  EXPECT_EQ(sets[1].bytes_per_thread, 4 * kMiB);
  EXPECT_EQ(sets[2].bytes_per_thread, 0);
  EXPECT_NE(sets[2].skip_reason.find("240 MiB"), std::string::npos) << sets[2].skip_reason;
  EXPECT_EQ(choose_working_sets(caches, 2, 240 * kMiB)[2].bytes_per_thread, 120 * kMiB);
}

TEST(WorkingSets, UseAPartOfAHugeCache) {
  const std::vector<CacheInfo> caches = {{2, 2 * kMiB, 1, 64}, {3, 480 * kMiB, 1, 64}};
  EXPECT_EQ(choose_working_sets(caches, 1, kGiB)[2].bytes_per_thread, 32 * kMiB);
}

std::vector<WorkingSet> small_sets() {
  return {{.name = "L1", .cache_bytes = 64 * kKiB, .bytes_per_thread = 16 * kKiB},
          {.name = "L3", .skip_reason = "the machine reports no L3 cache"},
          {.name = "memory", .bytes_per_thread = kMiB + kKiB}};
}

TEST(Bandwidths, ReportSpreadAndSkipReasons) {
  Machine machine;
  DeviceContext& device = machine.at(cpu());
  const MeasuredBandwidths measured = measure_bandwidths(device, small_sets(), 0.02, {});
  ASSERT_EQ(measured.levels.size(), 2U);
  EXPECT_EQ(measured.levels[0].name, "L1");
  EXPECT_EQ(measured.levels[0].cache_bytes, 64 * kKiB);
  const int threads = device.threads().size();
  EXPECT_EQ(measured.levels[1].working_set_bytes, (kMiB + kKiB) * threads);
  for (const BandwidthCeiling& level : measured.levels) {
    SCOPED_TRACE(level.name);
    EXPECT_GT(level.p10_gb_per_s, 0);
    EXPECT_LE(level.p10_gb_per_s, level.median_gb_per_s);
    EXPECT_LE(level.median_gb_per_s, level.p90_gb_per_s);
    EXPECT_LE(level.p90_gb_per_s, level.gb_per_s);
    EXPECT_GT(level.time.n, 0);
    EXPECT_NEAR(level.median_gb_per_s * 1e9 * level.time.median_s,
                static_cast<double>(level.working_set_bytes), 1);
  }
  ASSERT_EQ(measured.missing.size(), 1U);
  EXPECT_EQ(measured.missing[0].name, "L3");
  EXPECT_EQ(measured.missing[0].reason, "the machine reports no L3 cache");
  EXPECT_EQ(device.memory().used_bytes(), 0);
}

// A set that takes long is read in parts; the figures are still of the whole set.
TEST(Bandwidths, OfALargeSetHaveSeveralRepetitions) {
  Machine machine;
  DeviceContext& device = machine.at(cpu());
  const std::int64_t each = 96 * kMiB / device.threads().size() / kKiB * kKiB + 8;
  const std::vector<WorkingSet> sets = {{.name = "memory", .bytes_per_thread = each}};
  const MeasuredBandwidths measured = measure_bandwidths(device, sets, 1, {});
  ASSERT_EQ(measured.levels.size(), 1U);
  const BandwidthCeiling& memory = measured.levels.front();
  EXPECT_GT(memory.time.n, 1);
  EXPECT_EQ(memory.working_set_bytes, each * device.threads().size());
  EXPECT_NEAR(memory.median_gb_per_s * 1e9 * memory.time.median_s,
              static_cast<double>(memory.working_set_bytes), 1);
}

TEST(Bandwidths, AcceptAnEmptySelection) {
  Machine machine;
  const std::vector<WorkingSet> sets = {{.name = "L1", .skip_reason = "the machine reports none"}};
  const MeasuredBandwidths measured = measure_bandwidths(machine.at(cpu()), sets, 0.02, {});
  EXPECT_TRUE(measured.levels.empty());
  EXPECT_EQ(measured.missing.size(), 1U);
  EXPECT_EQ(machine.at(cpu()).memory().used_bytes(), 0);
}

TEST(Bandwidths, StopOnRequest) {
  Machine machine;
  DeviceContext& device = machine.at(cpu());
  std::stop_source before;
  before.request_stop();
  test::message_of([&] { measure_bandwidths(device, small_sets(), 100, before.get_token()); },
                   Errc::Cancelled);
  std::stop_source during;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    during.request_stop();
  });
  test::message_of(
      [&] {
        while (true) measure_bandwidths(device, small_sets(), 100, during.get_token());
      },
      Errc::Cancelled);
  EXPECT_EQ(device.memory().used_bytes(), 0);
}

TEST(Bandwidths, AreReusedOnceStable) {
  Machine machine;
  DeviceContext& device = machine.at(cpu());
  device.bandwidths() = MeasuredBandwidths{.levels = {{.name = "L1", .gb_per_s = 7}}};
  EXPECT_EQ(bandwidths_of(device, {}).levels[0].gb_per_s, 7);
  device.bandwidths()->levels[0].time.unstable = true;
  device.bandwidths()->levels[0].gb_per_s = 1e9;
  const std::stop_token never;
  const MeasuredBandwidths& again = bandwidths_of(device, never);
  for (const BandwidthCeiling& level : again.levels) {
    if (level.name == "L1") {
      EXPECT_EQ(level.gb_per_s, 1e9) << "the faster one is kept";
    }
  }
  EXPECT_GT(again.levels.size() + again.missing.size(), 1U);
  EXPECT_EQ(&again, &*device.bandwidths());
}

}  // namespace
}  // namespace lab
