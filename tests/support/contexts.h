#pragma once
// The contexts of several devices, as Trainer takes them.
#include <vector>

#include "compute/machine/machine.h"

namespace lab::test {

inline std::vector<DeviceContext*> contexts_of(Machine& machine,
                                               const std::vector<Device>& devices) {
  std::vector<DeviceContext*> contexts;
  contexts.reserve(devices.size());
  for (const Device device : devices) contexts.push_back(&machine.at(device));
  return contexts;
}

}  // namespace lab::test
