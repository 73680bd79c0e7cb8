#pragma once
// Formats facts and readings of NVIDIA GPUs as text for the window and the command line.
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"
#include "compute/core/fields/enum_names.h"

namespace lab {

struct GpuLine {
  std::string label;
  Maybe<std::string> value;
  std::string hint = {};
  std::string group = {};  // heading; empty: visible without unfolding
};

// Explains NVML's utilisation.
inline constexpr const char* kGpuUtilisationHint = LAB_TEXT(
    "Share of the driver's last sample (1/6 to 1 second) in which at least one kernel ran. One "
    "small kernel on one multiprocessor counts as much as a full GPU, so 100 % does not mean that "
    "the GPU is fully used.");

// Returns the lines declared in gpu_readings.h, and the PCI address.
std::vector<GpuLine> describe_facts(const GpuFacts& facts);
// Returns no lines for a sleeping GPU.
std::vector<GpuLine> describe_reading(const GpuTelemetry& reading, const GpuFacts& facts);

// "gen 5 x16".
std::string to_string(const PcieLink& link);

// Returns the type as shown by nvidia-smi: "C" compute, "G" graphics, "C+G" both, "M+C" compute
// through MPS.
std::string process_type(const GpuProcess& process);
// Returns "GPU instance 1, compute instance 0", or the reason why there is none.
Maybe<std::string> process_instance(const GpuProcess& process);

// Returns "412 W of 650 W", or the reason why the power is unknown.
Maybe<std::string> power_text(const GpuTelemetry& reading);

// Returns why the lab does not use a GPU that the driver reports; empty if it does.
std::string why_unused(const MachineInfo& machine, const std::string& pci_bus_id);
// Returns whether an absent device is one of the GPUs at these addresses, whose own lines give the
// reason.
bool is_one_of(const AbsentDevice& absent, const std::vector<std::string>& pci_bus_ids);

}  // namespace lab
