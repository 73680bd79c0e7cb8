#pragma once
// What the lab knows of a device: facts that stay, and telemetry that moves.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/maybe.h"

namespace lab {

struct CacheInfo {
  int level = 0;                // 1, 2, 3
  std::int64_t size_bytes = 0;  // of one instance
  int instances = 0;            // how many the device has
  int line_bytes = 0;
  bool operator==(const CacheInfo&) const = default;
};

struct DeviceInfo {
  Device device;
  std::string name;                                // "AMD EPYC", "NVIDIA H200"
  std::string simd;                                // "AVX-512", "AVX2", ... ; empty for GPUs
  std::string simd_detail;                         // "AVX-512 with BF16 and VNNI"
  std::string simd_cap;                            // LAB_SIMD: "avx2", ... ; empty where unset
  std::vector<int> cores;                          // operating-system numbers of the device's cores
  std::vector<std::vector<int>> hardware_threads;  // of each core, operating-system numbers
  int threads = 0;                                 // worker threads the lab uses there
  int packages = 0;
  std::vector<int> numa_nodes;
  std::vector<CacheInfo> caches;
  Maybe<double> clock_max_mhz;
  std::int64_t memory_total_bytes = 0;  // of the machine, for cpu devices
  std::int64_t memory_limit_bytes = 0;  // this device's share; allocations past it are refused
  std::string pci_bus_id = {};          // of a GPU, as in GpuFacts and GpuTelemetry
  std::vector<std::pair<std::string, std::string>> details;  // further facts: label, value
};

// One reading of a device. Rates are over the time since the previous reading.
struct DeviceTelemetry {
  Device device;
  double t_s = 0;                        // since the lab started
  Maybe<double> utilisation;             // 0..1, mean over the device's cores
  std::vector<double> core_utilisation;  // of each core's busiest thread, as DeviceInfo::cores
  Maybe<double> clock_mhz;               // mean of the device's cores
  Maybe<double> temperature_c;
  std::int64_t memory_available_bytes = 0;  // of the machine (cpu) or the GPU
  std::int64_t lab_used_bytes = 0;          // what tensors of this process hold on the device
  std::int64_t lab_peak_bytes = 0;
  // Of a GPU, beside what its tensors use:
  std::int64_t lab_pinned_bytes = 0;     // page-locked main memory, for copies to and from it
  std::int64_t lab_workspace_bytes = 0;  // that the matrix libraries work in on the GPU
  std::int64_t lab_pool_bytes = 0;       // what the pool holds of the GPU, the tensors included
  std::string lost = {};  // of a GPU: the sentence of the error that ended it; empty while it works
};

// Why a class of device is absent: {"NVIDIA GPU", "no NVIDIA driver: libcuda.so.1 is not
// installed"}.
struct AbsentDevice {
  std::string what;
  std::string reason;
  std::string pci_bus_id = {};  // of a GPU, where it is known
  // Only a GPU's sleep is known to be in the way, its own or another's: a wish is enough.
  bool waits_for_wish = false;
};

struct MachineInfo {
  std::string host;
  std::string system;  // "Debian GNU/Linux 12, kernel 6.1.0"
  std::vector<DeviceInfo> devices;
  std::vector<AbsentDevice> absent;
};

}  // namespace lab
