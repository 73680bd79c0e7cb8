#include "compute/machine/cpu_topology.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

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
  if (!synthetic.empty()) {
    const int size = static_cast<int>(synthetic.size()) + 1;
    const int refused = synthetic.front() == '<'
                            ? hwloc_topology_set_xmlbuffer(raw, synthetic.c_str(), size)
                            : hwloc_topology_set_synthetic(raw, synthetic.c_str());
    if (refused != 0) return nullptr;
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
                        static_cast<int>(cache.linesize), members(obj->cpuset),
                        static_cast<int>(obj->logical_index)});
    }
  }
  return caches;
}

// A kind of core as hwloc reports it.
struct ReportedKind {
  CoreKind kind;
  std::vector<int> hardware_threads;
  int efficiency = -1;  // rank, greater for faster cores; -1 if unknown
};

template <typename Number>
std::optional<Number> number_in(const char* text) {
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, fault] = std::from_chars(text, end, number);
  if (fault != std::errc{} || rest != end || number <= 0) return std::nullopt;
  return static_cast<Number>(number);
}

void read_kind_info(const hwloc_info_s& info, CoreKind& to) {
  const std::string name = info.name;
  if (name == "CoreType") to.type = info.value;
  if (name == "FrequencyMaxMHz") to.clock_max_mhz = number_in<double>(info.value);
  if (name == "FrequencyBaseMHz") to.clock_base_mhz = number_in<double>(info.value);
  if (name == "LinuxCapacity") to.capacity = number_in<int>(info.value);
}

struct BitmapEnd {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};

std::vector<ReportedKind> reported_kinds(hwloc_topology_t topology) {
  std::vector<ReportedKind> kinds;
  const std::unique_ptr<hwloc_bitmap_s, BitmapEnd> set(hwloc_bitmap_alloc());
  const int number = set ? hwloc_cpukinds_get_nr(topology, 0) : 0;
  for (int i = 0; i < number; ++i) {
    ReportedKind kind;
    unsigned infos = 0;
    hwloc_info_s* info = nullptr;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), set.get(), &kind.efficiency,
                                &infos, &info, 0) != 0) {
      return {};
    }
    kind.hardware_threads = members(set.get());
    for (const hwloc_info_s& one : std::span(info, infos)) read_kind_info(one, kind.kind);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

bool within_tenth(double a, double b) {
  return std::abs(a - b) <= 0.1 * std::max(a, b);
}

// Whether kinds differ only as much as cores of one kind do of which some may clock higher.
bool nearly_alike(const CoreKind& a, const CoreKind& b) {
  const std::pair<std::optional<double>, std::optional<double>> facts[] = {
      {a.clock_max_mhz, b.clock_max_mhz},
      {a.clock_base_mhz, b.clock_base_mhz},
      {a.capacity, b.capacity}};
  bool known = false;
  for (const auto& [one, other] : facts) {
    if (one.has_value() != other.has_value()) return false;
    if (one && !within_tenth(*one, *other)) return false;
    known = known || one;
  }
  return known && a.type == b.type;
}

// Joins ranked kinds, sorted by speed, that are nearly alike.
std::vector<ReportedKind> without_near_twins(std::vector<ReportedKind> sorted) {
  std::vector<ReportedKind> kinds;
  for (ReportedKind& one : sorted) {
    const bool twin =
        !kinds.empty() && one.efficiency >= 0 && nearly_alike(kinds.back().kind, one.kind);
    if (twin) {
      std::vector<int>& threads = kinds.back().hardware_threads;
      threads.insert(threads.end(), one.hardware_threads.begin(), one.hardware_threads.end());
      std::sort(threads.begin(), threads.end());
    } else {
      kinds.push_back(std::move(one));
    }
  }
  return kinds;
}

// Names kinds that are sorted by speed.
void name_kinds(std::vector<CoreKind>& kinds) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CoreKind& kind = kinds[i];
    if (kind.type == "IntelCore" || i == 0) {
      kind.name = "performance";
    } else {
      const bool slowest = kind.type == "IntelAtom" || i + 1 == kinds.size();
      kind.name = slowest ? "efficient" : "medium";
    }
  }
}

// Sets the kinds of the cores and sorts both, the fastest first. Changes nothing if the cores are
// alike.
void set_kinds(CpuTopology& to, std::vector<ReportedKind> reported) {
  std::stable_sort(
      reported.begin(), reported.end(),
      [](const ReportedKind& a, const ReportedKind& b) { return a.efficiency > b.efficiency; });
  reported = without_near_twins(std::move(reported));
  std::vector<int> kind_of(to.cores.size(), -1);
  std::vector<CoreKind> kinds;
  bool ranked = true;
  const auto add = [&](const CoreKind& kind, const auto& has) {
    const int number = static_cast<int>(kinds.size());
    bool any = false;
    for (std::size_t i = 0; i < to.cores.size(); ++i) {
      if (kind_of[i] >= 0 || !has(to.cores[i])) continue;
      kind_of[i] = number;
      any = true;
    }
    if (any) kinds.push_back(kind);
    return any;
  };
  for (const ReportedKind& one : reported) {
    const bool any = add(one.kind, [&](const CpuCore& core) {
      return !both(core.hardware_threads, one.hardware_threads).empty();
    });
    if (any && one.efficiency < 0) ranked = false;
  }
  if (add({}, [](const CpuCore&) { return true; })) ranked = false;  // cores of no kind
  if (kinds.size() < 2) return;
  if (ranked) name_kinds(kinds);
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k].number = static_cast<int>(k);
  for (std::size_t i = 0; i < to.cores.size(); ++i) to.cores[i].kind = kind_of[i];
  std::stable_sort(to.cores.begin(), to.cores.end(),
                   [](const CpuCore& a, const CpuCore& b) { return a.kind < b.kind; });
  to.kinds = std::move(kinds);
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
    result = {read_name(topology.get()),
              read_cores(topology.get(), allowed),
              read_caches(topology.get()),
              {}};
    set_kinds(result, reported_kinds(topology.get()));
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
    info.core_packages.push_back(core.package);
    nodes.insert(core.numa_node);
    threads.insert(threads.end(), core.hardware_threads.begin(), core.hardware_threads.end());
  }
  std::sort(threads.begin(), threads.end());
  for (std::size_t k = 0; k < topology.kinds.size(); ++k) {
    CoreKind kind = topology.kinds[k];
    for (std::size_t i = 0; i < cores.size(); ++i) {
      if (cores[i].kind == static_cast<int>(k)) kind.cores.push_back(static_cast<int>(i));
    }
    if (!kind.cores.empty()) info.core_kinds.push_back(std::move(kind));
  }
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
      same->numbers.push_back(cache.number);
    } else {
      info.caches.push_back({cache.level,
                             cache.size_bytes,
                             1,
                             cache.line_bytes,
                             {std::move(served)},
                             {cache.number}});
    }
  }
  return info;
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
