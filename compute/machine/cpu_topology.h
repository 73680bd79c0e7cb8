#pragma once
// Cores, caches and NUMA nodes of the CPU as reported by hwloc, and thread affinity.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/device_info.h"

namespace lab {

// A physical core that this process may use.
struct CpuCore {
  int os_number = 0;                  // OS number of its first allowed hardware thread
  std::vector<int> hardware_threads;  // OS numbers, allowed threads only
  int package = 0;
  int numa_node = 0;
  int kind = 0;  // position in CpuTopology::kinds
};

struct CpuCache {
  int level = 0;
  std::int64_t size_bytes = 0;
  int line_bytes = 0;
  std::vector<int> hardware_threads;  // OS numbers of the threads it serves
  int number = 0;                     // among the caches of its level
};

struct CpuTopology {
  std::string name;  // "AMD EPYC"; empty if unknown
  // Those of the fastest kind first, otherwise in hwloc's order, so that neighbours share caches.
  std::vector<CpuCore> cores;
  std::vector<CpuCache> caches;  // data and unified caches, level 1 first
  // The fastest first, without positions of cores; empty if all cores are alike or hwloc reports no
  // kinds. If hwloc cannot rank them, the names are empty and the order is hwloc's.
  std::vector<CoreKind> kinds;
};

// Queries hwloc and keeps what the process's affinity mask allows; if hwloc fails, uses the mask
// only. `synthetic` is an hwloc description of a synthetic machine for tests ("package:1 l3:1
// core:8 pu:2"), or hwloc's XML of a machine, for which the mask is ignored.
CpuTopology read_topology(const std::string& synthetic = {});

// Returns the kinds of ARM cores in the text of /proc/cpuinfo, which holds numbers instead of a
// name: "Arm Neoverse-V2", "Arm Cortex-X925 and Arm Cortex-A725"; empty if it lists no ARM core.
std::string arm_processor_name(std::string_view cpuinfo);

// Describes the device that consists of these cores.
DeviceInfo describe_cores(const CpuTopology& topology, const std::vector<CpuCore>& cores);

// Returns the OS numbers of the processors on which the calling thread may run, ascending; empty if
// the kernel does not report them.
std::vector<int> thread_affinity();
// Same for the process's main thread.
std::vector<int> process_affinity();

// Restricts the calling thread to these processors. Returns false, changing nothing, if none of
// them exists or is allowed.
bool set_thread_affinity(std::span<const int> processors);

}  // namespace lab
