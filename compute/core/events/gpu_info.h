#pragma once
// What the lab knows of an NVIDIA GPU without running anything on it: facts that stay, and
// telemetry that moves. A field without a value says why. gpu_readings.h lists the fields.
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
  int links = 0;        // that the GPU has
  int active = 0;       // that lead somewhere
  std::string version;  // "4.0"
};

struct PowerLimits {
  double default_w = 0;  // after a restart
  double min_w = 0, max_w = 0;
};

// Whether one GPU can reach the memory of another directly.
struct PeerAccess {
  bool possible = false;
  std::string why_not;
};
struct GpuPeer {
  std::string pci_bus_id;
  Maybe<PeerAccess> read, write, nvlink;
};

struct GpuFacts {
  std::string pci_bus_id;                 // as /sys names it: "0000:01:00.0"
  std::string name;                       // "NVIDIA H200"
  std::string unread;                     // why the driver told nothing of this GPU; empty: it did
  Maybe<std::string> architecture;        // "Hopper"
  Maybe<std::string> compute_capability;  // "9.0"
  Maybe<int> sms;                         // streaming multiprocessors
  Maybe<int> cuda_cores;
  Maybe<std::int64_t> memory_total_bytes;
  Maybe<int> memory_bus_bits;
  Maybe<double> sm_clock_max_mhz, graphics_clock_max_mhz, memory_clock_max_mhz, video_clock_max_mhz;
  Maybe<PowerLimits> power_limits;
  Maybe<double> slowdown_c;   // the temperature at which the GPU slows itself down
  Maybe<PcieLink> pcie_best;  // of GPU and slot together
  Maybe<NvLinks> nvlinks;
  Maybe<bool> ecc, mig;                // switched on
  Maybe<int> numa_node;                // whose cores and memory are nearest
  Maybe<std::string> near_cpus;        // operating-system numbers of those cores, "0-15,32-47"
  Maybe<std::string> uuid;             // "GPU-" and five groups of hexadecimal digits
  Maybe<std::string> serial;           // of the board
  Maybe<std::string> vbios_version;    // of the firmware that starts the GPU, "96.00.99.00.01"
  Maybe<std::string> driver_version;   // "580.82.07"
  Maybe<std::string> cuda_version;     // the newest that the driver runs, "13.0"
  Maybe<std::string> runtime_version;  // of the CUDA runtime that the lab was built with, "13.0"
  std::vector<GpuPeer> peers;          // the other GPUs that were awake
};

struct GpuProcess {
  std::int64_t pid = 0;
  Maybe<std::string> name;
  Maybe<std::int64_t> memory_bytes;
  // 0..1 of the last second: the share in which its kernels ran, and of the video engines.
  Maybe<double> utilisation, encoder_utilisation, decoder_utilisation;
  // In which of the driver's lists it stands; `shares` is the one of MPS, a service through which
  // several processes compute at the same time.
  bool computes = false, draws = false, shares = false;
  Maybe<int> gpu_instance, compute_instance;  // of a GPU that is divided (MIG)
};

struct EccErrors {
  std::int64_t corrected = 0, uncorrected = 0;  // since the driver was loaded
};

// One reading of a GPU. Nothing is read from a GPU that is asleep, since that would wake it.
struct GpuTelemetry {
  std::string pci_bus_id;
  double t_s = 0;  // since the lab started
  bool asleep = false;
  // 0..1, over the driver's last sample of 1/6 to 1 second: the share of time in which at least
  // one kernel ran, and in which the memory was read or written.
  Maybe<double> utilisation, memory_utilisation;
  Maybe<double> encoder_utilisation, decoder_utilisation;  // of its video engines, 0..1
  Maybe<double> sm_clock_mhz, graphics_clock_mhz, memory_clock_mhz, video_clock_mhz;
  Maybe<std::int64_t> memory_used_bytes, memory_free_bytes;
  Maybe<double> power_w, power_limit_w;
  Maybe<double> temperature_c;
  Maybe<double> fan;                             // 0..1 of its greatest speed
  Maybe<int> performance_state;                  // 0 is the fastest, 15 the slowest
  Maybe<std::vector<std::string>> clock_limits;  // what keeps the clocks down, in words
  Maybe<PcieLink> pcie;
  // Over 20 ms, seen from the GPU. Read more rarely than the rest.
  Maybe<double> pcie_received_bytes_per_s, pcie_sent_bytes_per_s;
  Maybe<bool> persistence_mode;     // the driver stays loaded while nobody uses the GPU
  Maybe<std::string> compute_mode;  // who may compute on it: "default", "prohibited", ...
  Maybe<bool> display_active;       // it holds the memory of a screen
  Maybe<EccErrors> ecc_errors;
  Maybe<std::vector<GpuProcess>> processes;
};

}  // namespace lab
