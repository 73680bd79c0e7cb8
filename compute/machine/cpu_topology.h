#pragma once
// Cores, caches and memory nodes of the main processor, as hwloc sees them, and on which of its
// hardware threads a thread may run.
#include <span>
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"

namespace lab {

// One physical core that this process may use.
struct CpuCore {
  int os_number = 0;                  // of its first allowed hardware thread
  std::vector<int> hardware_threads;  // operating-system numbers, allowed ones only
  int package = 0;
  int numa_node = 0;
};

struct CpuCache {
  int level = 0;
  std::int64_t size_bytes = 0;
  int line_bytes = 0;
  std::vector<int> hardware_threads;  // that it serves
};

struct CpuTopology {
  std::string name;              // "AMD EPYC"; empty when unknown
  std::vector<CpuCore> cores;    // in the order of hwloc, so that neighbours share caches
  std::vector<CpuCache> caches;  // data and unified ones, level 1 first
};

// Asks hwloc and keeps what the process's affinity mask allows; falls back to the mask alone when
// hwloc fails. `synthetic` is an hwloc description of a made-up machine, for tests
// ("package:1 l3:1 core:8 pu:2"); the mask is left out then.
CpuTopology read_topology(const std::string& synthetic = {});

// The facts of the device that consists of these cores.
DeviceInfo describe_cores(const CpuTopology& topology, const std::vector<CpuCore>& cores);

// As many of the cores as can be busy all the time on `quota` processors' worth of it: more threads
// would only be stopped in turns. At least one.
std::vector<CpuCore> cores_within(std::vector<CpuCore> cores, double quota);

// The cores of device `index` of `devices`: contiguous, sizes differ by one at most. More devices
// than cores share them, one each, in turns: the first ones have different cores.
std::vector<CpuCore> split_cores(const std::vector<CpuCore>& cores, int index, int devices);

// Operating-system numbers of those the calling thread may run on, ascending; empty where the
// kernel does not tell.
std::vector<int> thread_affinity();

// Keeps the calling thread on these. False, and nothing has changed, where none of them exists or
// is allowed.
bool set_thread_affinity(std::span<const int> processors);

}  // namespace lab
