#pragma once
// NVIDIA GPUs as the driver describes them, for tests of the device views.
#include <cmath>
#include <string>

#include "compute/core/events/gpu_info.h"
#include "compute/core/units.h"

namespace lab::test {

inline const std::string kGpuAddress = "0000:01:00.0";

inline GpuFacts gpu_facts(const std::string& pci_bus_id = kGpuAddress) {
  GpuFacts f;
  f.pci_bus_id = pci_bus_id;
  f.name = "NVIDIA H200";
  f.architecture = std::string("Hopper");
  f.compute_capability = std::string("9.0");
  f.sms = 132;
  f.cuda_cores = 16896;
  f.memory_total_bytes = 141 * kGiB;
  f.memory_bus_bits = 6144;
  f.sm_clock_max_mhz = 1980.0;
  f.graphics_clock_max_mhz = 1965.0;
  f.memory_clock_max_mhz = 3201.0;
  f.video_clock_max_mhz = 1830.0;
  f.power_limits = PowerLimits{700, 200, 700};
  f.slowdown_c = 87.0;
  f.pcie_best = PcieLink{5, 16};
  f.nvlinks = NvLinks{18, 17, "4.0"};
  f.ecc = true;
  f.mig = false;
  f.numa_node = Maybe<int>::missing("the machine's firmware does not report it");
  f.near_cpus = std::string("0-15");
  f.uuid = std::string("GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
  f.serial = std::string("1653124000");
  f.vbios_version = std::string("96.00.99.00.01");
  f.driver_version = std::string("580.82.07");
  f.cuda_version = std::string("13.0");
  f.runtime_version = std::string("13.0");
  return f;
}

inline GpuTelemetry gpu_reading(double t_s, const std::string& pci_bus_id = kGpuAddress) {
  GpuTelemetry t;
  t.pci_bus_id = pci_bus_id;
  t.t_s = t_s;
  t.utilisation = 0.6 + 0.3 * std::sin(0.1 * t_s);
  t.memory_utilisation = 0.41;
  t.sm_clock_mhz = 1755.0;
  t.encoder_utilisation = 0.07;
  t.decoder_utilisation = 0.23;
  t.graphics_clock_mhz = 1740.0;
  t.memory_clock_mhz = 3201.0;
  t.video_clock_mhz = 1545.0;
  t.memory_used_bytes = 39 * kGiB;
  t.memory_free_bytes = 101 * kGiB;
  t.power_w = 412.3;
  t.power_limit_w = 650.0;
  t.temperature_c = 54 + 3 * std::sin(0.05 * t_s);
  t.fan = Maybe<double>::missing("this GPU or its driver does not report it");
  t.performance_state = 0;
  t.clock_limits = std::vector<std::string>{"power limit"};
  t.pcie = PcieLink{5, 16};
  t.pcie_received_bytes_per_s = 23e9;
  t.pcie_sent_bytes_per_s = 1.5e9;
  t.persistence_mode = true;
  t.compute_mode = std::string("exclusive process");
  t.display_active = false;
  t.ecc_errors = EccErrors{3, 0};
  GpuProcess known, hidden;
  known.pid = 4242;
  known.name = std::string("python3");
  known.memory_bytes = 20 * kGiB;
  known.computes = known.draws = true;
  known.utilisation = 0.83;
  known.encoder_utilisation = 0.07;
  known.decoder_utilisation = 0.0;
  known.gpu_instance = 1;
  known.compute_instance = 0;
  hidden.pid = 77;
  hidden.name = Maybe<std::string>::missing("the process cannot be seen from here");
  hidden.draws = true;
  hidden.utilisation = hidden.encoder_utilisation = hidden.decoder_utilisation =
      Maybe<double>::missing("the driver is too old for it");
  hidden.gpu_instance = hidden.compute_instance = Maybe<int>::missing("the GPU is not divided");
  hidden.memory_bytes = Maybe<std::int64_t>::missing("the driver does not report it");
  t.processes = std::vector<GpuProcess>{known, hidden};
  return t;
}

inline GpuTelemetry sleeping_gpu(double t_s, const std::string& pci_bus_id = kGpuAddress) {
  GpuTelemetry t;
  t.pci_bus_id = pci_bus_id;
  t.t_s = t_s;
  t.asleep = true;
  t.utilisation = Maybe<double>::missing("the GPU is asleep to save power");
  return t;
}

// Full access; a non-empty `why_not` denies writes.
inline GpuPeer gpu_peer(const std::string& pci_bus_id, const std::string& why_not = "") {
  GpuPeer peer;
  peer.pci_bus_id = pci_bus_id;
  peer.read = peer.nvlink = PeerAccess{true, ""};
  peer.write = PeerAccess{why_not.empty(), why_not};
  return peer;
}

}  // namespace lab::test
