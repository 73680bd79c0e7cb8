#include "compute/machine/telemetry.h"

#include <gtest/gtest.h>

#include <functional>

namespace lab {
namespace {

// Drains until an event pleases `wanted`.
void wait_for(Channel& channel, const std::function<bool(const Event&)>& wanted) {
  while (true) {
    for (const Event& e : channel.wait_and_drain(1)) {
      if (wanted(e)) return;
    }
  }
}

bool has_tensors(const Event& e, std::size_t n) {
  const auto* list = std::get_if<TensorList>(&e.payload);
  return list != nullptr && list->tensors.size() == n;
}

TEST(TelemetrySampler, ReportsTheMachineAndItsTensorsAsJobZero) {
  Machine machine({.cpu_devices = 2});
  Channel channel;
  const TelemetrySampler sampler(machine, channel, 0.02);
  wait_for(channel, [](const Event& e) { return e.job == 0 && has_tensors(e, 0); });
  const TensorId id = machine.at(cpu(1)).memory().book(64, {});
  wait_for(channel, [](const Event& e) { return has_tensors(e, 1); });
  wait_for(channel, [](const Event& e) {
    const auto* t = std::get_if<Telemetry>(&e.payload);
    return t != nullptr && t->devices.size() == 2 && t->devices[1].lab_used_bytes == 64 &&
           t->devices[0].utilisation;
  });
  machine.at(cpu(1)).memory().release(id);
  wait_for(channel, [](const Event& e) { return has_tensors(e, 0); });
}

// Ending it must not wait for the interval; if it did, this test would hang.
TEST(TelemetrySampler, StopsWithinALongInterval) {
  Machine machine;
  Channel channel;
  const TelemetrySampler sampler(machine, channel, 1e6);
  wait_for(channel, [](const Event& e) { return std::holds_alternative<Telemetry>(e.payload); });
}

TEST(TelemetrySampler, AShorterIntervalCountsAtOnce) {
  Machine machine;
  Channel channel;
  TelemetrySampler sampler(machine, channel, 3600);
  const auto is_telemetry = [](const Event& e) {
    return std::holds_alternative<Telemetry>(e.payload);
  };
  wait_for(channel, is_telemetry);
  sampler.set_interval(0.02);
  wait_for(channel, is_telemetry);
}

}  // namespace
}  // namespace lab
