#include "compute/measure/own_rates.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "compute/machine/cpu_topology.h"
#include "tests/support/eventually.h"

namespace lab {
namespace {

using std::chrono::milliseconds;

// The second core is the first one again on a machine with one.
std::vector<int> two_cores() {
  const std::vector<int> usable = thread_affinity();
  return {usable.front(), usable.back()};
}

double own_rates(std::vector<double> seconds) {
  return seconds_at_own_rates(seconds);
}

TEST(SecondsAtOwnRates, AddsTheRates) {
  EXPECT_DOUBLE_EQ(own_rates({0.25}), 0.25);
  EXPECT_DOUBLE_EQ(own_rates({2, 2, 2}), 2);
  // 1 and 1/3 parts per second, 4/3 together: 2 parts take 1.5 s, and not 3 s.
  EXPECT_DOUBLE_EQ(own_rates({1, 3}), 1.5);
  // Two fast cores and two that are half as fast equal three fast ones.
  EXPECT_DOUBLE_EQ(own_rates({1, 2, 1, 2}), 4 / 3.0);
  EXPECT_EQ(own_rates({}), 0);
}

TEST(TimeAtOwnRates, IsNotDeterminedByASlowThread) {
  ThreadPool pool(two_cores());
  const auto measured = [&] {
    return time_at_own_rates(
        pool, [](int t) { std::this_thread::sleep_for(milliseconds(t == 0 ? 2 : 50)); },
        [](int) { std::this_thread::sleep_for(milliseconds(1)); });
  };
  EXPECT_GE(measured(), 2e-3 / (1 / 2.0 + 1 / 50.0));  // 3.8 ms
  EXPECT_TRUE(test::eventually([&] { return measured() < 20e-3; }));
}

TEST(TimeAtOwnRates, KeepsAFinishedThreadBusy) {
  ThreadPool pool(two_cores());
  std::atomic<int> more = 0;
  std::atomic<bool> kept_busy = false;
  time_at_own_rates(
      pool,
      [&](int t) {
        if (t == 1) kept_busy = static_cast<bool>(test::eventually([&] { return more >= 3; }));
      },
      [&](int t) {
        if (t == 0) ++more;
        std::this_thread::yield();
      });
  EXPECT_TRUE(kept_busy);
}

TEST(TimeAtOwnRates, StartsAllThreadsAtTheSameTime) {
  ThreadPool pool(two_cores());
  std::atomic<int> begun = 0;
  std::atomic<int> alone = 0;
  time_at_own_rates(
      pool,
      [&](int) {
        ++begun;
        if (!test::eventually([&] { return begun == 2; })) ++alone;
      },
      [](int) {});
  EXPECT_EQ(alone, 0);
}

TEST(TimeAtOwnRates, RethrowsWithoutWaitingForever) {
  ThreadPool pool(two_cores());
  for (int thrower = 0; thrower < 2; ++thrower) {
    EXPECT_THROW(time_at_own_rates(
                     pool,
                     [&](int t) {
                       if (t == thrower) throw std::runtime_error("work");
                     },
                     [](int) {}),
                 std::runtime_error);
  }
  EXPECT_GE(time_at_own_rates(
                pool, [](int) { std::this_thread::sleep_for(milliseconds(1)); }, [](int) {}),
            1e-3);
}

}  // namespace
}  // namespace lab
