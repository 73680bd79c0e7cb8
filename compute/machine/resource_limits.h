#pragma once
// Main memory and processor time that this process may use: what the machine has, within the limits
// of its control groups (cgroup v1 or v2). `root` stands for "/" in tests.
#include <cstdint>
#include <optional>
#include <string>

namespace lab {

struct MemoryInfo {
  std::int64_t total_bytes = 0;      // of the machine
  std::int64_t available_bytes = 0;  // without swapping, within the control group's limit
  std::string limited_by;            // "cgroup limit of 4.00 GiB"; empty: nothing but the machine
};

// Reads <root>/proc/meminfo, or asks sysinfo(2) where there is none (which counts page cache as
// used), and the process's control group.
MemoryInfo read_memory(const std::string& root = "/");

// Processors' worth of time that the tightest control group grants, 1.5 for 150 ms in each 100 ms;
// empty where there is no such quota.
std::optional<double> read_cpu_quota(const std::string& root = "/");

}  // namespace lab
