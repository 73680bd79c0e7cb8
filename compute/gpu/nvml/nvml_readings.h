#pragma once
// What NVML reports about a GPU.
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"
#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {

// All GPUs that NVML offers. Looking initialises each of them, which wakes it.
std::vector<Handle> open_all(const Session& nvml);
// One GPU, which wakes it, or why it cannot be had.
Maybe<Handle> open_at(const Session& nvml, const std::string& pci_bus_id);

// The GPU's address as /sys names it, or why it is not known.
Maybe<std::string> read_bus_id(const Session& nvml, Handle gpu);

// All facts, apart from those that only files hold (NUMA node, near cores) and the peers.
GpuFacts read_facts(const Session& nvml, Handle gpu);
GpuPeer read_peer(const Session& nvml, Handle gpu, Handle other, std::string other_bus_id);

// Readings that change all the time: utilisation, clocks, memory, power, temperature.
void read_fast(const Session& nvml, Handle gpu, GpuTelemetry& to);
// Readings that change within seconds: limits, links, fan, modes, errors, processes. Processes get
// no name.
void read_slow(const Session& nvml, Handle gpu, GpuTelemetry& to);
// Traffic over PCIe: the driver counts 20 ms for each of two values, in the caller's time.
void read_throughput(const Session& nvml, Handle gpu, GpuTelemetry& to);

// Each process once, those with the most memory first, without names; or why there is no list.
Maybe<std::vector<GpuProcess>> read_processes(const Session& nvml, Handle gpu);

}  // namespace lab::nvml
