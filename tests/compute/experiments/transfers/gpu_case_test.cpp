// Number of operations per sample of a GPU transfer case.
#include "compute/experiments/transfers/gpu_case.h"

#include <gtest/gtest.h>

#include <vector>

#include "compute/measure/gated_clock.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

// A case whose operations take `once_s` seconds each.
class SteadyCase final : public GpuCase {
 public:
  SteadyCase(double once_s, bool gated, int queued = 1)
      : once_s_(once_s), gated_(gated), queued_(queued) {}
  double repeat(int times) override {
    times_.push_back(times);
    return once_s_;
  }
  void poison() override {}
  std::string check() override { return ""; }
  bool gated() const override { return gated_; }
  int queued() const override { return queued_; }
  const std::vector<int>& times() const { return times_; }

 private:
  const double once_s_;
  const bool gated_;
  const int queued_;
  std::vector<int> times_;
};

struct GpuCaseTiming : ::testing::Test {
  test::Probe probe;
  RunContext ctx{
      1, probe.machine, probe.tensors, probe.channel, probe.control, probe.stop.get_token()};

  // Operations per sample after warm-up.
  int operations(double once_s, bool gated, int queued = 1) {
    SteadyCase one(once_s, gated, queued);
    const Timing timing = one.time(ctx, {.budget_s = 1});
    EXPECT_EQ(timing.median_s, once_s);
    EXPECT_EQ(one.times().front(), 4);
    EXPECT_EQ(timing.n, static_cast<std::int64_t>(one.times().size()) - 1);
    return one.times().back();
  }
};

TEST_F(GpuCaseTiming, RunsSixteenOf512MiBBehindAGate) {
  EXPECT_EQ(operations(1e-6, true), 16);
  EXPECT_EQ(operations(0.5 * 1.073741824e9 / 55e9, true), 16);
  EXPECT_EQ(operations(0.5 * 1.073741824e9 / 22e9, true), 16);
}

TEST_F(GpuCaseTiming, RunsFewerIfTheyTakeLong) {
  EXPECT_EQ(operations(0.1, true), 4);
  EXPECT_EQ(operations(2, true), 1);
  EXPECT_EQ(operations(1e-3, false), 16);
  EXPECT_EQ(operations(0.01, false), 5);
  EXPECT_EQ(operations(0.1, false), 1);
}

TEST_F(GpuCaseTiming, QueuesNoMoreThanTheGateHolds) {
  EXPECT_EQ(operations(1e-6, true, 32), 15) << "16 of 32 pieces and the events would block";
  EXPECT_EQ(operations(1e-6, true, GatedClock::kMaxOperations), 1);
  EXPECT_EQ(operations(1e-6, false, 32), 16) << "nothing waits";
}

TEST_F(GpuCaseTiming, StopsBetweenSamples) {
  SteadyCase one(1e-3, true);
  probe.stop.request_stop();
  EXPECT_THROW(one.time(ctx, {.budget_s = 1}), Error);
  EXPECT_EQ(one.times().size(), 1U);
}

}  // namespace
}  // namespace lab
