#pragma once
// NVIDIA GPUs in words, as the window and the command line show them.
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"

namespace lab {

struct GpuLine {
  std::string label;
  Maybe<std::string> value;
  std::string hint = {};
  std::string group = {};  // its heading; empty: visible before anything is unfolded
};

// What NVML's utilisation means.
inline constexpr const char* kGpuUtilisationHint =
    "Share of the driver's last sample (1/6 to 1 second) in which at least one kernel ran. One "
    "small kernel on one multiprocessor counts as much as a full GPU, so 100 % does not mean that "
    "nothing is left.";

// The lines of gpu_readings.h and the PCI address.
std::vector<GpuLine> describe_facts(const GpuFacts& facts);
// Empty for a GPU that is asleep.
std::vector<GpuLine> describe_reading(const GpuTelemetry& reading, const GpuFacts& facts);

// "gen 5 x16".
std::string to_string(const PcieLink& link);

// As nvidia-smi puts it: "C" computes, "G" draws, "C+G" does both; "M+C" computes through MPS.
std::string process_type(const GpuProcess& process);
// "GPU instance 1, compute instance 0", or why it is in none.
Maybe<std::string> process_instance(const GpuProcess& process);

// "412 W of 650 W", or the reason.
Maybe<std::string> power_text(const GpuTelemetry& reading);

// Why the lab does not compute on a GPU that the driver shows; empty where it does.
std::string why_unused(const MachineInfo& machine, const std::string& pci_bus_id);
// Whether an absent device is one of the GPUs at these addresses, which say themselves why they
// are not used.
bool is_one_of(const AbsentDevice& absent, const std::vector<std::string>& pci_bus_ids);

}  // namespace lab
