#pragma once
// Formats the kinds of a CPU device's cores as text for the window and the command line.
#include <string>

#include "compute/core/events/device_info.h"

namespace lab {

// Returns "2 performance (up to 5.2 GHz), 2 efficient (up to 3.9 GHz)"; empty if the cores of the
// machine are alike or their kinds are unknown.
std::string core_kinds_text(const DeviceInfo& info);

// Returns "4 cores: 2 performance (up to 5.2 GHz), 2 efficient (up to 3.9 GHz)", or "4 cores" if
// there are no kinds.
std::string cores_text(const DeviceInfo& info);

// Returns "performance core, up to 5.2 GHz"; "core of kind 2" if the kind has no name.
std::string core_kind_text(const CoreKind& kind);

// Returns whether the devices consist of different kinds of cores, so that the same work takes
// longer on one of them.
bool have_unequal_cores(const DeviceInfo& a, const DeviceInfo& b);

}  // namespace lab
