#pragma once
// Kept figures belong to a device as it was: with the same name and number of threads.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "compute/core/device.h"
#include "compute/core/events/device_info.h"

namespace lab::app {

// The device that is called "cpu:0"; null if the machine has none.
inline const DeviceInfo* device_called(const MachineInfo& machine, std::string_view device) {
  const auto found = std::ranges::find_if(
      machine.devices, [&](const DeviceInfo& info) { return to_string(info.device) == device; });
  return found == machine.devices.end() ? nullptr : &*found;
}

inline bool is_same_device(const DeviceInfo* now, std::string_view name, std::int64_t threads) {
  return now != nullptr && now->name == name && now->threads == threads;
}

}  // namespace lab::app
