#pragma once
// Describes a device: static facts and live telemetry.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/maybe.h"

namespace lab {

struct CacheInfo {
  int level = 0;                // 1, 2, 3
  std::int64_t size_bytes = 0;  // bytes per instance
  int instances = 0;            // number of instances on the device
  int line_bytes = 0;
  // Per instance, the cores of the device that it serves, as positions in DeviceInfo::cores.
  std::vector<std::vector<int>> cores = {};
  // Per instance, its number among the machine's caches of the level: devices that share a cache
  // name the same one. Empty if unknown.
  std::vector<int> numbers = {};
  bool operator==(const CacheInfo&) const = default;
};

// Cores that are alike on a processor whose cores are not: performance and efficient cores.
struct CoreKind {
  int number = 0;    // among the kinds of the machine, 0 for the fastest
  std::string name;  // "performance", "medium" or "efficient"; empty if their speeds are unknown
  std::string type;  // "IntelCore", "IntelAtom"; empty if hwloc reports none
  std::optional<double> clock_max_mhz, clock_base_mhz;
  std::optional<int> capacity;  // Linux's estimate of the speed; 1024 for the fastest core
  std::vector<int> cores;       // of the device, as positions in DeviceInfo::cores
};

struct DeviceInfo {
  Device device;
  std::string name;                                // "AMD EPYC", "NVIDIA H200"
  std::string simd;                                // "AVX-512", "AVX2", ... ; empty for GPUs
  std::string simd_detail;                         // "AVX-512 with BF16 and VNNI"
  std::string simd_cap;                            // LAB_SIMD: "avx2", ... ; empty if unset
  std::vector<int> cores;                          // OS numbers, cores of the fastest kind first
  std::vector<std::vector<int>> hardware_threads;  // OS numbers, per core
  // The kinds of the device's cores, the fastest first; empty if all cores of the machine are alike
  // or hwloc reports no kinds.
  std::vector<CoreKind> core_kinds;
  int threads = 0;  // worker threads of the lab on this device
  int packages = 0;
  std::vector<int> core_packages = {};  // number of the package, per core; empty if unknown
  std::vector<int> numa_nodes;
  std::vector<CacheInfo> caches;
  Maybe<double> clock_max_mhz;
  bool virtual_machine = false;         // the clocks that it reports are nominal
  std::int64_t memory_total_bytes = 0;  // for CPU devices: of the machine or its cgroup
  std::int64_t memory_limit_bytes = 0;  // this device's share; allocations beyond it are refused
  std::string pci_bus_id = {};          // GPUs only, as in GpuFacts and GpuTelemetry
  std::vector<std::pair<std::string, std::string>> details;  // further facts as (label, value)
};

// One reading of a device. Rates are averages since the previous reading.
struct DeviceTelemetry {
  Device device;
  double t_s = 0;                        // since the lab started
  Maybe<double> utilisation;             // 0..1, mean over the device's cores
  std::vector<double> core_utilisation;  // busiest thread per core, as DeviceInfo::cores
  Maybe<double> clock_mhz;               // mean over the device's cores
  Maybe<double> temperature_c;
  Maybe<std::int64_t> memory_available_bytes;  // of the machine (CPU devices) or the GPU
  std::int64_t lab_used_bytes = 0;             // held by this process's tensors on the device
  std::int64_t lab_peak_bytes = 0;
  // GPUs only, in addition to the tensors:
  std::int64_t lab_pinned_bytes = 0;     // page-locked main memory for copies to and from the GPU
  std::int64_t lab_workspace_bytes = 0;  // GPU workspace of the matrix libraries
  std::int64_t lab_pool_bytes = 0;       // GPU memory reserved by the pool, including the tensors
  std::string lost = {};  // GPUs only: error that destroyed the context; empty while usable
};

// A device or class of devices that cannot be used, and the reason: {"NVIDIA GPU", "no NVIDIA
// driver: libcuda.so.1 is not installed"}.
struct AbsentDevice {
  std::string what;
  std::string reason;
  std::string pci_bus_id = {};  // GPUs only; empty if unknown
  // True if the only known obstacle is a sleeping GPU, this one or another: an explicit request for
  // a GPU removes it.
  bool needs_request = false;
};

struct MachineInfo {
  std::string host;
  std::string system;  // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;  // release, "6.1.0"; empty if unknown
  std::vector<DeviceInfo> devices;
  std::vector<AbsentDevice> absent;
};

}  // namespace lab
