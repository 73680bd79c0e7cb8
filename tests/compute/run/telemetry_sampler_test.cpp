#include "compute/machine/telemetry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/support/eventually.h"

namespace lab {
namespace {

// Drains the channel until an event satisfies `wanted`.
testing::AssertionResult receives(Channel& channel,
                                  const std::function<bool(const Event&)>& wanted) {
  return test::eventually([&] {
    const std::vector<Event> events = channel.wait_and_drain(1);
    return std::any_of(events.begin(), events.end(), wanted);
  });
}

bool is_telemetry(const Event& e) {
  return std::holds_alternative<Telemetry>(e.payload);
}

bool has_tensors(const Event& e, std::size_t n) {
  const auto* list = std::get_if<TensorList>(&e.payload);
  return list != nullptr && list->tensors.size() == n;
}

TEST(TelemetrySampler, ReportsMachineAndTensorsAsJobZero) {
  Machine machine({.cpu_devices = 2});
  Channel channel;
  const TelemetrySampler sampler(machine, channel, 0.02);
  ASSERT_TRUE(receives(channel, [](const Event& e) { return e.job == 0 && has_tensors(e, 0); }));
  const TensorId id = machine.at(cpu(1)).memory().reserve(64, {});
  ASSERT_TRUE(receives(channel, [](const Event& e) { return has_tensors(e, 1); }));
  ASSERT_TRUE(receives(channel, [](const Event& e) {
    const auto* t = std::get_if<Telemetry>(&e.payload);
    return t != nullptr && t->devices.size() == 2 && t->devices[1].lab_used_bytes == 64 &&
           t->devices[0].utilisation;
  }));
  machine.at(cpu(1)).memory().release(id);
  ASSERT_TRUE(receives(channel, [](const Event& e) { return has_tensors(e, 0); }));
}

// The first reading has no rates, so that the second must not wait for the interval.
TEST(TelemetrySampler, SendsRatesSoon) {
  Machine machine;
  Channel channel;
  const TelemetrySampler sampler(machine, channel, 3600);
  ASSERT_TRUE(receives(channel, [](const Event& e) {
    const auto* t = std::get_if<Telemetry>(&e.payload);
    return t != nullptr && t->devices[0].utilisation;
  }));
}

// The destructor must not wait for the interval; otherwise this test would hang.
TEST(TelemetrySampler, StopsDuringALongInterval) {
  Machine machine;
  Channel channel;
  const TelemetrySampler sampler(machine, channel, 1e6);
  ASSERT_TRUE(receives(channel, is_telemetry));
}

TEST(TelemetrySampler, AppliesAShorterIntervalImmediately) {
  Machine machine;
  Channel channel;
  TelemetrySampler sampler(machine, channel, 3600);
  ASSERT_TRUE(receives(channel, is_telemetry));
  sampler.set_interval(0.02);
  ASSERT_TRUE(receives(channel, is_telemetry));
}

TEST(TelemetrySampler, ReadsProgramsWhileTheyAreWatched) {
  Machine machine;
  Channel channel;
  TelemetrySampler sampler(machine, channel, 0.2);
  const auto has_programs = [](const Event& e) {
    const auto* t = std::get_if<Telemetry>(&e.payload);
    return t != nullptr && t->programs && !t->programs->busiest.empty();
  };
  for (int reading = 0; reading < 4;) {
    for (const Event& event : channel.wait_and_drain(1)) {
      EXPECT_FALSE(has_programs(event)) << "nobody asked for them";
      reading += is_telemetry(event) ? 1 : 0;
    }
  }
  sampler.watch_programs(true);
  EXPECT_TRUE(receives(channel, has_programs));
  EXPECT_TRUE(receives(channel, has_programs)) << "again and again";
}

}  // namespace
}  // namespace lab
