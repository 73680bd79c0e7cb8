#pragma once
// How much main memory there is, and how much of it this process may still take.
#include <cstdint>
#include <string>

namespace lab {

struct MemoryInfo {
  std::int64_t total_bytes = 0;      // of the machine
  std::int64_t available_bytes = 0;  // without swapping, within the control group's limit
  std::string limited_by;            // "cgroup limit of 4.00 GiB"; empty: nothing but the machine
};

// Reads <root>/proc/meminfo, or asks sysinfo(2) where there is none (which counts page cache as
// used), and the process's control group, v1 or v2.
MemoryInfo read_memory(const std::string& root = "/");

}  // namespace lab
