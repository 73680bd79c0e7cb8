// What looking at the GPUs costs: under 0.5 % of a core, however slow the driver is.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "compute/machine/gpu_monitor.h"
#include "compute/machine/poll_budget.h"
#include "tests/compute/machine/fake_root.h"
#include "tests/support/fake_nvml/fake_library.h"

namespace lab {
namespace {

using test::FakeNvml;
using test::FakeRoot;

double thread_cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A monitor of two GPUs on a clock that goes on only between its readings.
struct Polling {
  FakeRoot root;
  FakeNvml fake{"pair"};
  double now_s = 0;
  GpuMonitor monitor{
      {.root = root.path(), .library = fake.path(), .now_s = [this] { return now_s; }}};
  double share_of_core = 0;
  double longest_gap_s = 0;  // between two readings
  int readings = 0;

  ~Polling() { fake.slow(0, false); }

  double read_at(double time_s) {
    now_s = time_s;
    return monitor.read(now_s).at(0).t_s;
  }

  // From 0 to `seconds`, every `every_s`; the first reading, which opens the library, is left out.
  void poll(double seconds, double every_s) {
    double last_s = read_at(0);
    const double begin_cpu_s = thread_cpu_s();
    while (now_s < seconds) {
      const double time_s = read_at(now_s + every_s);
      if (time_s == last_s) continue;
      longest_gap_s = std::max(longest_gap_s, time_s - last_s);
      last_s = time_s;
      ++readings;
    }
    share_of_core = (thread_cpu_s() - begin_cpu_s) / seconds;
    ::testing::Test::RecordProperty("percent_of_core", std::to_string(100 * share_of_core));
    ::testing::Test::RecordProperty("longest_gap_s", std::to_string(longest_gap_s));
    ::testing::Test::RecordProperty("readings", std::to_string(readings));
  }
};

TEST(GpuPolling, TwoGpusTenTimesASecondCostLittle) {
  Polling two;
  two.poll(60, 0.1);
  EXPECT_LT(two.share_of_core, 0.005);
  EXPECT_GT(two.readings, 100) << "a quick driver is asked often";
}

// 5 ms of processor time per call: 60 ms for a quick reading of two GPUs.
TEST(GpuPolling, ADriverThatComputesLongIsAskedRarely) {
  Polling two;
  two.fake.slow(5000, true);
  two.poll(300, 1);
  EXPECT_LT(two.share_of_core, 0.005);
  EXPECT_GT(two.longest_gap_s, 15) << "12 calls of 5 ms are 0.2 % of 30 s";
}

TEST(GpuPolling, ADriverThatWaitsIsAskedForATwentiethOfTheTime) {
  Polling two;
  two.read_at(0);
  two.fake.slow(2000, false);
  // Long after each look: what looking takes here is unknown but for the calls' 2 ms.
  EXPECT_EQ(two.read_at(10'000), 10'000);
  EXPECT_EQ(two.read_at(10'000.4), 10'000) << "12 calls of 2 ms are a twentieth of 0.48 s";
  two.fake.slow(0, false);
  EXPECT_EQ(two.read_at(20'000), 20'000);
}

TEST(PollBudget, CountsWaitingApartFromComputing) {
  PollBudget budget(1, 0.002);
  budget.spent(0, {.cpu_s = 0, .elapsed_s = 0.02});
  EXPECT_TRUE(budget.due(1)) << "20 ms are a twentieth of 0.4 s";
  budget.spent(0, {.cpu_s = 0, .elapsed_s = 0.2});
  EXPECT_FALSE(budget.due(3.9));
  EXPECT_TRUE(budget.due(4));
}

TEST(PollBudget, OneLongWaitDoesNotEndTheLooking) {
  PollBudget budget(1, 0.002);
  budget.spent(0, {.cpu_s = 0, .elapsed_s = 60});
  EXPECT_FALSE(budget.due(29.9));
  EXPECT_TRUE(budget.due(30));
}

}  // namespace
}  // namespace lab
