#pragma once
// Describes an NVIDIA GPU without running anything on it: static facts and live telemetry. A field
// without a value holds the reason. gpu_readings.h lists the fields.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/maybe.h"

namespace lab {

struct PcieLink {
  int generation = 0;  // 1..7
  int width = 0;       // lanes
};

struct NvLinks {
  int links = 0;        // total links of the GPU
  int active = 0;       // connected links
  std::string version;  // "4.0"
};

struct PowerLimits {
  double default_w = 0;  // at boot
  double min_w = 0, max_w = 0;
};

// Whether one GPU can access the memory of another directly.
struct PeerAccess {
  bool possible = false;
  std::string why_not;
};
struct GpuPeer {
  std::string pci_bus_id;
  Maybe<PeerAccess> read, write, nvlink;
};

struct GpuFacts {
  std::string pci_bus_id;           // as in /sys: "0000:01:00.0"
  std::string name;                 // "NVIDIA H200"
  std::string unread;               // why the driver reports no data for this GPU; empty if it does
  Maybe<std::string> architecture;  // "Hopper"
  Maybe<std::string> compute_capability;  // "9.0"
  Maybe<int> sms;                         // streaming multiprocessors
  Maybe<int> cuda_cores;
  Maybe<std::int64_t> memory_total_bytes;
  Maybe<int> memory_bus_bits;
  Maybe<double> sm_clock_max_mhz, graphics_clock_max_mhz, memory_clock_max_mhz, video_clock_max_mhz;
  Maybe<PowerLimits> power_limits;
  Maybe<double> slowdown_c;   // temperature at which the GPU throttles
  Maybe<PcieLink> pcie_best;  // best link that GPU and slot support
  Maybe<NvLinks> nvlinks;
  Maybe<bool> ecc, mig;                // enabled
  Maybe<int> numa_node;                // nearest NUMA node
  Maybe<std::string> near_cpus;        // OS numbers of its cores, "0-15,32-47"
  Maybe<std::string> uuid;             // "GPU-" and five groups of hexadecimal digits
  Maybe<std::string> serial;           // of the board
  Maybe<std::string> vbios_version;    // "96.00.99.00.01"
  Maybe<std::string> driver_version;   // "580.82.07"
  Maybe<std::string> cuda_version;     // newest version the driver supports, "13.0"
  Maybe<std::string> runtime_version;  // CUDA runtime the lab was built with, "13.0"
  std::vector<GpuPeer> peers;          // other GPUs that were awake when read
};

struct GpuProcess {
  std::int64_t pid = 0;
  Maybe<std::string> name;
  Maybe<std::int64_t> memory_bytes;
  // 0..1 over the last second: share of time in which kernels of the process ran, and in which the
  // video engines worked for it.
  Maybe<double> utilisation, encoder_utilisation, decoder_utilisation;
  // Which of the driver's process lists contain it; `shares` refers to the list of MPS, a service
  // through which several processes compute concurrently.
  bool computes = false, draws = false, shares = false;
  Maybe<int> gpu_instance, compute_instance;  // for a GPU partitioned by MIG
};

struct EccErrors {
  std::int64_t corrected = 0, uncorrected = 0;  // since the driver was loaded
};

// One reading of a GPU. A sleeping GPU is not read, since that would wake it.
struct GpuTelemetry {
  std::string pci_bus_id;
  double t_s = 0;  // since the lab started
  bool asleep = false;
  // 0..1 over the driver's last sample of 1/6 to 1 second: share of time in which at least one
  // kernel ran, and in which memory was read or written.
  Maybe<double> utilisation, memory_utilisation;
  Maybe<double> encoder_utilisation, decoder_utilisation;  // video engines, 0..1
  Maybe<double> sm_clock_mhz, graphics_clock_mhz, memory_clock_mhz, video_clock_mhz;
  Maybe<std::int64_t> memory_used_bytes, memory_free_bytes;
  Maybe<double> power_w, power_limit_w;
  Maybe<double> temperature_c;
  Maybe<double> fan;                             // 0..1 of maximum speed
  Maybe<int> performance_state;                  // 0 is the fastest, 15 the slowest
  Maybe<std::vector<std::string>> clock_limits;  // reasons for reduced clocks
  Maybe<PcieLink> pcie;
  // Over 20 ms, from the GPU's point of view. Read less often than the other fields.
  Maybe<double> pcie_received_bytes_per_s, pcie_sent_bytes_per_s;
  Maybe<bool> persistence_mode;     // the driver stays loaded while no process uses the GPU
  Maybe<std::string> compute_mode;  // which processes may compute: "default", "prohibited", ...
  Maybe<bool> display_active;       // a display is allocated in its memory
  Maybe<EccErrors> ecc_errors;
  Maybe<std::vector<GpuProcess>> processes;
};

}  // namespace lab
