#pragma once
// Live values of the processor from /proc and /sys. `root` stands for "/" in tests.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compute/core/maybe.h"

namespace lab {

// Time a core has spent since the machine started, in the kernel's ticks.
struct CoreTicks {
  std::int64_t busy = 0;
  std::int64_t total = 0;
};

// By operating-system number, from <root>/proc/stat; empty where it cannot be read.
std::map<int, CoreTicks> read_core_ticks(const std::string& root);

// Clock of each core now, by operating-system number: cpufreq where there is one, else
// /proc/cpuinfo. Cores without a value are left out.
std::map<int, double> read_clocks_mhz(const std::string& root, const std::vector<int>& cores);

// The files that hold the processor's temperature in thousandths of a degree.
std::vector<std::string> find_cpu_temperature_files(const std::string& root);

// The hottest of them, or why there is none.
Maybe<double> read_temperature_c(const std::vector<std::string>& files);

// Main memory this process holds; 0 where it cannot be read.
std::int64_t read_resident_bytes(const std::string& root);

}  // namespace lab
