#pragma once
// The state of the machine around a measurement.
#include <string>

#include "compute/core/events/stats.h"
#include "compute/core/maybe.h"

namespace lab {

// The time now and the clock of core `core` as the kernel shows it in /sys (cpufreq) or in
// /proc/cpuinfo. `root` replaces "/" in tests.
Conditions current_conditions(int core = 0, const std::string& root = "/");
// Of a measurement on a GPU.
Conditions conditions_of_gpu();

}  // namespace lab
