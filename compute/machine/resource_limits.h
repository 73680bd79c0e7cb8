#pragma once
// Main memory and CPU time available to this process: the machine's, within the limits of its
// control groups (cgroup v1 or v2) and of its address space. `root` replaces "/" in tests.
#include <cstdint>
#include <optional>
#include <string>

namespace lab {

struct MemoryInfo {
  std::int64_t total_bytes = 0;      // of the machine, or of the cgroup if that is less
  std::int64_t available_bytes = 0;  // without swapping, within all limits
  // "cgroup limit of 4.00 GiB", "address space limit of 2.00 GiB (ulimit -v)"; empty: the machine
  // only.
  std::string limited_by;
};

// Reads <root>/proc/meminfo, or sysinfo(2) if the file is missing (which counts page cache as
// used), the process's control groups, and its own RLIMIT_AS, whatever the root.
MemoryInfo read_memory(const std::string& root = "/");

// Returns the CPU time granted by the tightest control group, in units of one processor: 1.5 for
// 150 ms per 100 ms. Empty if there is no quota.
std::optional<double> read_cpu_quota(const std::string& root = "/");

}  // namespace lab
