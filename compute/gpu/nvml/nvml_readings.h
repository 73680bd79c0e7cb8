#pragma once
// Reads facts and measurements of GPUs through NVML.
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"
#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {

// All GPUs that NVML offers. The query initialises each GPU, which wakes it.
std::vector<Handle> open_all(const Session& nvml);
// The GPU at this PCI address, or the reason why it is unavailable. Wakes the GPU.
Maybe<Handle> open_at(const Session& nvml, const std::string& pci_bus_id);

// The GPU's PCI address in the notation of /sys, or the reason why it is unknown.
Maybe<std::string> read_bus_id(const Session& nvml, Handle gpu);

// All facts except the peers and those available only from files (NUMA node, near cores).
GpuFacts read_facts(const Session& nvml, Handle gpu);
GpuPeer read_peer(const Session& nvml, Handle gpu, Handle other, std::string other_bus_id);

// Readings that change continuously: utilisation, clocks, memory, power, temperature.
void read_fast(const Session& nvml, Handle gpu, GpuTelemetry& to);
// Readings that change within seconds: limits, links, fan, modes, errors, processes. Process names
// are left empty.
void read_slow(const Session& nvml, Handle gpu, GpuTelemetry& to);
// PCIe throughput. Blocks the caller while the driver counts for 20 ms for each of the two values.
void read_throughput(const Session& nvml, Handle gpu, GpuTelemetry& to);

// The processes that use the GPU, each listed once, by decreasing memory use, without names; or the
// reason why there is no list.
Maybe<std::vector<GpuProcess>> read_processes(const Session& nvml, Handle gpu);

}  // namespace lab::nvml
