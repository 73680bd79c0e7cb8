#include "compute/measure/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/measure/cache_flusher.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

// Time advances only when a body advances it.
struct FakeClock {
  double t_s = 0;
  std::function<double()> reader() {
    return [this] { return t_s; };
  }
};

TEST(Measure, StopsAtMinimumRepetitionsWhenSteady) {
  FakeClock clock;
  const auto body = [&] { clock.t_s += 0.01; };
  const Timing t = measure(body, {.budget_s = 10, .now_s = clock.reader()});
  EXPECT_FALSE(t.unstable);
  EXPECT_EQ(t.n, 10);
  EXPECT_GE(t.warmup, 1);
  EXPECT_NEAR(t.median_s, 0.01, 1e-9);
  EXPECT_NEAR(t.min_s, t.max_s, 1e-9);
}

TEST(Measure, IsUnstableWhenTheBudgetEndsFirst) {
  FakeClock clock;
  int calls = 0;
  const auto body = [&] { clock.t_s += ++calls % 2 == 0 ? 0.01 : 0.02; };
  const Timing t = measure(body, {.budget_s = 1, .now_s = clock.reader()});
  EXPECT_TRUE(t.unstable);
  EXPECT_NEAR(static_cast<double>(t.n), 60, 8);
  EXPECT_LE(clock.t_s, 1.05);
}

TEST(Measure, MoreRepetitionsReduceNoise) {
  FakeClock clock;
  int calls = 0;
  // 1 % steps in a fixed order: the median settles after some tens of repetitions, not after ten.
  const auto body = [&] { clock.t_s += 0.01 * (1 + 0.01 * ((7 * ++calls) % 5)); };
  const Timing t = measure(body, {.budget_s = 100, .now_s = clock.reader()});
  EXPECT_FALSE(t.unstable);
  EXPECT_GT(t.n, 10);
  EXPECT_LT(t.n, 300);
  EXPECT_NEAR(t.median_s, 0.0102, 1e-6);
}

TEST(Measure, AcceptsSmallSpreadAtBudgetEnd) {
  FakeClock clock;
  const Timing t = measure([&] { clock.t_s += 0.1; }, {.budget_s = 0.75, .now_s = clock.reader()});
  EXPECT_GE(t.n, 6);
  EXPECT_LT(t.n, 10);
  EXPECT_FALSE(t.unstable);
}

TEST(Measure, TimesALongBodyOnce) {
  FakeClock clock;
  const Timing t = measure([&] { clock.t_s += 3; }, {.budget_s = 0.5, .now_s = clock.reader()});
  EXPECT_EQ(t.n, 1);
  EXPECT_EQ(t.warmup, 1);
  EXPECT_TRUE(t.unstable);
  EXPECT_DOUBLE_EQ(t.median_s, 3);
}

TEST(Measure, BatchesShortBodies) {
  FakeClock clock;
  std::int64_t calls = 0;
  const auto body = [&] {
    ++calls;
    clock.t_s += 1e-7;
  };
  const Timing t =
      measure(body, {.budget_s = 1, .min_repetition_s = 1e-4, .now_s = clock.reader()});
  EXPECT_NEAR(t.median_s, 1e-7, 1e-12);
  EXPECT_GE(calls, t.n * 1000);  // 1e-4 s in steps of 1e-7 s
}

TEST(Measure, CancelStopsBetweenRepetitions) {
  FakeClock clock;
  int calls = 0;
  const auto body = [&] {
    ++calls;
    clock.t_s += 0.01;
  };
  const MeasureOptions options{.budget_s = 100,
                               .min_repetitions = 1000,
                               .cancelled = [&] { return calls >= 7; },
                               .now_s = clock.reader()};
  try {
    measure(body, options);
    FAIL() << "must throw";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::Cancelled);
  }
  EXPECT_EQ(calls, 7);
}

TEST(Measure, ForwardsExceptionsOfTheBody) {
  EXPECT_THROW(measure([] { throw Error(Errc::Internal, "broken"); }), Error);
}

TEST(Measure, WorksWithTheRealClock) {
  volatile double x = 1;
  const Timing t = measure([&] { x = x * 1.0000001; }, {.budget_s = 0.05});
  EXPECT_GT(t.median_s, 0);
  EXPECT_LE(t.min_s, t.p10_s);
  EXPECT_LE(t.p10_s, t.median_s);
  EXPECT_LE(t.median_s, t.p90_s);
  EXPECT_LE(t.p90_s, t.max_s);
}

TEST(Measure, TurnsHaveSeparateBudgets) {
  FakeClock clock;
  const auto one = [&] { clock.t_s += 0.02; };
  const auto two = [&] { clock.t_s += 0.04; };
  const MeasureOptions options{.budget_s = 1, .max_spread = 0, .now_s = clock.reader()};
  Measurement a(one, options);
  Measurement b(two, options);
  a.warm_up();
  b.warm_up();
  while (!a.done() || !b.done()) {
    if (!a.done()) a.repeat();
    if (!b.done()) b.repeat();
  }
  EXPECT_NEAR(a.spent_s(), 1, 0.05);
  EXPECT_NEAR(b.spent_s(), 1, 0.05);
  EXPECT_NEAR(static_cast<double>(a.timing().n), 2.0 * static_cast<double>(b.timing().n), 4);
}

// A GPU times calls with its own events, while host time passes as well.
TEST(Measurement, SupportsCustomClocks) {
  FakeClock clock;
  std::int64_t most = 0;
  const auto calls = [&](std::int64_t times) {
    most = std::max(most, times);
    clock.t_s += 50e-6 * static_cast<double>(times);  // queueing
    return 3e-6 * static_cast<double>(times);
  };
  Measurement m(TimedCalls{calls}, {.budget_s = 0.1,
                                    .max_spread = 0,
                                    .min_repetition_s = 1e-3,
                                    .max_calls = 100,
                                    .now_s = clock.reader()});
  m.warm_up();
  while (!m.done()) m.repeat();
  EXPECT_EQ(most, 100) << "though a millisecond takes more";
  EXPECT_NEAR(m.timing().median_s, 3e-6, 1e-12);
  EXPECT_NEAR(m.spent_s(), clock.t_s, 1e-9) << "warm-up included";
  EXPECT_NEAR(m.spent_s(), 0.1, 0.01);
}

TEST(CacheFlusher, RunsUntimedBeforeEachRepetition) {
  Machine machine;
  DeviceContext& device = machine.at(cpu());
  CacheFlusher flusher(device, 1 * kMiB);
  EXPECT_EQ(flusher.bytes(), 8 * kMiB * device.threads().size()) << "at least 8 MiB per thread";
  FakeClock clock;
  int calls = 0;
  const auto body = [&] {
    ++calls;
    clock.t_s += 1e-6;
  };
  const Timing t =
      measure(body, {.budget_s = 2e-5, .flush = [&] { flusher.flush(); }, .now_s = clock.reader()});
  EXPECT_EQ(calls, t.n + t.warmup);  // one call per repetition, however short
  EXPECT_NEAR(t.median_s, 1e-6, 1e-12);
}

TEST(CacheFlusher, FindsTheLastLevel) {
  DeviceInfo info;
  EXPECT_EQ(last_level_cache_bytes(info), 32 * kMiB);
  info.caches = {{1, 48 * kKiB, 2, 64}, {3, 16 * kMiB, 2, 64}, {2, kMiB, 2, 64}};
  EXPECT_EQ(last_level_cache_bytes(info), 32 * kMiB);
  info.caches.pop_back();
  info.caches.pop_back();
  EXPECT_EQ(last_level_cache_bytes(info), 96 * kKiB);
  info.caches = {{2, 0, 4, 64}};
  EXPECT_EQ(last_level_cache_bytes(info), 32 * kMiB) << "a size that the system does not say";
  EXPECT_EQ(smallest_last_level_cache_bytes(info), 32 * kMiB);
}

TEST(CacheFlusher, AddsLastLevelCachesOfDifferentSizes) {
  DeviceInfo info;
  info.caches = {{1, 48 * kKiB, 8, 64}, {2, 2 * kMiB, 8, 64}, {2, 4 * kMiB, 4, 64}};
  EXPECT_EQ(last_level_cache_bytes(info), 32 * kMiB);
  EXPECT_EQ(smallest_last_level_cache_bytes(info), 2 * kMiB);
}

TEST(Conditions, ReadsTheClockFromSysfsThenProc) {
  const test::TempDir dir;
  const std::string root = dir.path().string() + "/";
  EXPECT_FALSE(current_conditions(1, root).clock_mhz);
  std::filesystem::create_directories(dir.path() / "proc");
  std::ofstream(dir.path() / "proc/cpuinfo")
      << "processor\t: 0\ncpu MHz\t\t: 1000.5\n\nprocessor\t: 1\ncpu MHz\t\t: 2000.25\n";
  EXPECT_DOUBLE_EQ(*current_conditions(1, root).clock_mhz, 2000.25);
  EXPECT_FALSE(current_conditions(2, root).clock_mhz);
  const auto cpufreq = dir.path() / "sys/devices/system/cpu/cpu1/cpufreq";
  std::filesystem::create_directories(cpufreq);
  std::ofstream(cpufreq / "scaling_cur_freq") << "3100000\n";
  EXPECT_DOUBLE_EQ(*current_conditions(1, root).clock_mhz, 3100);
  EXPECT_GT(current_conditions().unix_time_s, 1'600'000'000);
}

}  // namespace
}  // namespace lab
