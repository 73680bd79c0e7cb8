#include "compute/machine/cpu_topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <memory>
#include <set>

#include "compute/core/language.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

struct TopologyEnd {
  void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyEnd>;

Topology load(const std::string& synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (!synthetic.empty() && hwloc_topology_set_synthetic(raw, synthetic.c_str()) != 0) {
    return nullptr;
  }
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

// Returns the processors that the affinity mask allows, at least one.
std::vector<int> allowed_threads() {
  std::vector<int> numbers = thread_affinity();
  if (numbers.empty()) numbers.push_back(0);
  return numbers;
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) numbers.push_back(i);
  return numbers;
}

std::vector<int> both(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  return shared;
}

int first_node(hwloc_obj_t core) {
  return core->nodeset ? std::max(0, hwloc_bitmap_first(core->nodeset)) : 0;
}

std::vector<CpuCore> read_cores(hwloc_topology_t topology, const std::vector<int>& allowed) {
  std::vector<CpuCore> cores;
  // Some virtual machines report processing units without cores.
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t obj = nullptr; (obj = hwloc_get_next_obj_by_type(topology, type, obj));) {
    CpuCore core;
    core.hardware_threads = both(members(obj->cpuset), allowed);
    if (core.hardware_threads.empty()) continue;
    core.os_number = core.hardware_threads.front();
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, obj);
    core.package = package ? static_cast<int>(package->logical_index) : 0;
    core.numa_node = first_node(obj);
    cores.push_back(std::move(core));
  }
  return cores;
}

std::vector<CpuCache> read_caches(hwloc_topology_t topology) {
  std::vector<CpuCache> caches;
  constexpr hwloc_obj_type_t kTypes[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                         HWLOC_OBJ_L4CACHE};
  for (const hwloc_obj_type_t type : kTypes) {
    for (hwloc_obj_t obj = nullptr; (obj = hwloc_get_next_obj_by_type(topology, type, obj));) {
      const auto& cache = obj->attr->cache;
      caches.push_back({static_cast<int>(cache.depth), static_cast<std::int64_t>(cache.size),
                        static_cast<int>(cache.linesize), members(obj->cpuset)});
    }
  }
  return caches;
}

std::string read_name(hwloc_topology_t topology) {
  const hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
  const char* name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  return name ? name : "";
}

struct ArmCore {
  std::string_view implementer, part, name;
};

// Cores of servers, Jetson and DGX Spark, numbered in the MIDR register; the list follows lscpu's.
constexpr std::array<ArmCore, 33> kArmCores = {{
    {"0x41", "0xd03", "Arm Cortex-A53"},    {"0x41", "0xd05", "Arm Cortex-A55"},
    {"0x41", "0xd07", "Arm Cortex-A57"},    {"0x41", "0xd08", "Arm Cortex-A72"},
    {"0x41", "0xd09", "Arm Cortex-A73"},    {"0x41", "0xd0a", "Arm Cortex-A75"},
    {"0x41", "0xd0b", "Arm Cortex-A76"},    {"0x41", "0xd0c", "Arm Neoverse-N1"},
    {"0x41", "0xd0d", "Arm Cortex-A77"},    {"0x41", "0xd40", "Arm Neoverse-V1"},
    {"0x41", "0xd41", "Arm Cortex-A78"},    {"0x41", "0xd42", "Arm Cortex-A78AE"},
    {"0x41", "0xd44", "Arm Cortex-X1"},     {"0x41", "0xd46", "Arm Cortex-A510"},
    {"0x41", "0xd47", "Arm Cortex-A710"},   {"0x41", "0xd48", "Arm Cortex-X2"},
    {"0x41", "0xd49", "Arm Neoverse-N2"},   {"0x41", "0xd4b", "Arm Cortex-A78C"},
    {"0x41", "0xd4d", "Arm Cortex-A715"},   {"0x41", "0xd4e", "Arm Cortex-X3"},
    {"0x41", "0xd4f", "Arm Neoverse-V2"},   {"0x41", "0xd80", "Arm Cortex-A520"},
    {"0x41", "0xd81", "Arm Cortex-A720"},   {"0x41", "0xd82", "Arm Cortex-X4"},
    {"0x41", "0xd83", "Arm Neoverse-V3AE"}, {"0x41", "0xd84", "Arm Neoverse-V3"},
    {"0x41", "0xd85", "Arm Cortex-X925"},   {"0x41", "0xd87", "Arm Cortex-A725"},
    {"0x41", "0xd8e", "Arm Neoverse-N3"},   {"0x4e", "0x003", "NVIDIA Denver 2"},
    {"0x4e", "0x004", "NVIDIA Carmel"},     {"0xc0", "0xac3", "Ampere-1"},
    {"0xc0", "0xac4", "Ampere-1a"},
}};

std::string arm_core_name(std::string_view implementer, std::string_view part) {
  for (const ArmCore& core : kArmCores) {
    if (core.implementer == implementer && core.part == part) return std::string(core.name);
  }
  return fmt::format("ARM core {} of implementer {}", part, implementer);
}

// The kernel rejects a set with fewer bits than its own; no kernel has more than kMaxPlaces.
constexpr int kFewestPlaces = 1024;
constexpr int kMaxPlaces = 1 << 20;

struct SetEnd {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, SetEnd>;

CpuSet empty_set(int places, std::size_t bytes) {
  CpuSet set(CPU_ALLOC(static_cast<std::size_t>(places)));
  if (set) CPU_ZERO_S(bytes, set.get());
  return set;
}

// `thread`: a thread id of this process; 0 for the calling thread.
std::vector<int> affinity_of(pid_t thread) {
  std::vector<int> processors;
  for (int places = kFewestPlaces; places <= kMaxPlaces; places *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(places));
    const CpuSet set = empty_set(places, bytes);
    if (!set) return processors;
    if (sched_getaffinity(thread, bytes, set.get()) == 0) {
      for (int i = 0; i < places; ++i) {
        if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set.get())) processors.push_back(i);
      }
      return processors;
    }
    if (errno != EINVAL) return processors;
  }
  return processors;
}

}  // namespace

CpuTopology read_topology(const std::string& synthetic) {
  CpuTopology result;
  std::vector<int> allowed = allowed_threads();
  if (const Topology topology = load(synthetic)) {
    if (!synthetic.empty()) allowed = members(hwloc_topology_get_topology_cpuset(topology.get()));
    result = {read_name(topology.get()), read_cores(topology.get(), allowed),
              read_caches(topology.get())};
  }
  if (result.name.empty() && synthetic.empty()) {
    result.name = arm_processor_name(read_text("/proc/cpuinfo").value_or(""));
  }
  if (result.cores.empty()) {
    for (const int number : allowed) result.cores.push_back({number, {number}, 0, 0});
  }
  return result;
}

std::string arm_processor_name(std::string_view cpuinfo) {
  const std::vector<std::string> implementers = find_fields(cpuinfo, "CPU implementer");
  const std::vector<std::string> parts = find_fields(cpuinfo, "CPU part");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(implementers.size(), parts.size()); ++i) {
    std::string name = arm_core_name(implementers[i], parts[i]);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

DeviceInfo describe_cores(const CpuTopology& topology, const std::vector<CpuCore>& cores) {
  DeviceInfo info;
  info.name = topology.name.empty() ? tr("unknown processor") : topology.name;
  std::set<int> packages, nodes;
  std::vector<int> threads;
  for (const CpuCore& core : cores) {
    info.cores.push_back(core.os_number);
    info.hardware_threads.push_back(core.hardware_threads);
    packages.insert(core.package);
    nodes.insert(core.numa_node);
    threads.insert(threads.end(), core.hardware_threads.begin(), core.hardware_threads.end());
  }
  std::sort(threads.begin(), threads.end());
  info.threads = static_cast<int>(cores.size());
  info.packages = static_cast<int>(packages.size());
  info.numa_nodes.assign(nodes.begin(), nodes.end());
  for (const CpuCache& cache : topology.caches) {
    if (both(cache.hardware_threads, threads).empty()) continue;
    const auto same = std::find_if(info.caches.begin(), info.caches.end(), [&](const auto& c) {
      return c.level == cache.level && c.size_bytes == cache.size_bytes;
    });
    std::vector<int> served;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      const bool serves = !both(cache.hardware_threads, cores[i].hardware_threads).empty();
      if (serves) served.push_back(static_cast<int>(i));
    }
    if (same != info.caches.end()) {
      ++same->instances;
      same->cores.push_back(std::move(served));
    } else {
      info.caches.push_back(
          {cache.level, cache.size_bytes, 1, cache.line_bytes, {std::move(served)}});
    }
  }
  return info;
}

std::vector<CpuCore> cores_within(std::vector<CpuCore> cores, double quota) {
  const double enough = std::max(std::ceil(quota), 1.0);
  if (enough < static_cast<double>(cores.size())) cores.resize(static_cast<std::size_t>(enough));
  return cores;
}

std::vector<CpuCore> split_cores(const std::vector<CpuCore>& cores, int index, int devices) {
  const auto n = static_cast<std::int64_t>(cores.size());
  if (devices > n) return {cores[static_cast<std::size_t>(index % n)]};
  const std::int64_t begin = n * index / devices;
  const std::int64_t end = n * (index + 1) / devices;
  return {cores.begin() + begin, cores.begin() + end};
}

std::vector<int> thread_affinity() {
  return affinity_of(0);
}

std::vector<int> process_affinity() {
  return affinity_of(getpid());
}

bool set_thread_affinity(std::span<const int> processors) {
  if (processors.empty()) return false;
  const int places = std::max(*std::max_element(processors.begin(), processors.end()) + 1, 1);
  if (places > kMaxPlaces) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(places));
  const CpuSet set = empty_set(places, bytes);
  if (!set) return false;
  for (const int p : processors) {
    if (p >= 0) CPU_SET_S(static_cast<std::size_t>(p), bytes, set.get());
  }
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

}  // namespace lab
