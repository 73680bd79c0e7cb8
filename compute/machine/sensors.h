#pragma once
// Reads CPU sensors from /proc and /sys. `root` replaces "/" in tests.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compute/core/maybe.h"

namespace lab {

// Time of a core since boot, in kernel ticks.
struct CoreTicks {
  std::int64_t busy = 0;  // including `steal`
  std::int64_t total = 0;
  std::int64_t steal = 0;  // taken by the host of a virtual machine
};

// Returns ticks by OS number, from <root>/proc/stat; empty if it cannot be read.
std::map<int, CoreTicks> read_core_ticks(const std::string& root);

// Returns the current clock of each core by OS number, from cpufreq if available, otherwise from
// /proc/cpuinfo. Cores without a value are omitted.
std::map<int, double> read_clocks_mhz(const std::string& root, const std::vector<int>& cores);

// Whether an x86-64 processor belongs to a virtual machine: the clocks that it reports are nominal,
// and the host may run the cores at others. Other processors do not say; they count as real.
bool is_virtual_machine(const std::string& root = "/");

// Returns the files that hold the CPU's temperature in thousandths of a degree.
std::vector<std::string> find_cpu_temperature_files(const std::string& root);

// Returns the highest temperature, or the reason why there is none.
Maybe<double> read_temperature_c(const std::vector<std::string>& files);

// Returns the CPU time of all threads of this process; 0 if it cannot be read.
double process_cpu_s();

// Returns the resident memory of this process; 0 if it cannot be read.
std::int64_t read_resident_bytes(const std::string& root);

}  // namespace lab
