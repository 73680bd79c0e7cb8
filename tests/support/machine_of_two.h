#pragma once
// A machine with two equal CPU devices.
#include <string>

#include "compute/core/device.h"
#include "compute/core/events/device_info.h"

namespace lab::test {

inline MachineInfo machine_of_two() {
  MachineInfo machine;
  for (int i = 0; i < 2; ++i) {
    DeviceInfo info;
    info.device = cpu(i);
    info.name = "A Processor";
    info.threads = 4;
    machine.devices.push_back(info);
  }
  return machine;
}

}  // namespace lab::test
