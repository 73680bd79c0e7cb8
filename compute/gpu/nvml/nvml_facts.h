#pragma once
// What NVML tells of a GPU once.
#include <string>

#include "compute/core/events/gpu_info.h"
#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {

// The GPU's address as /sys names it, or why it is not known.
Maybe<std::string> read_bus_id(const Functions& nvml, Handle gpu);

// Everything that does not move, apart from what only files tell (NUMA node, near cores) and the
// peers.
GpuFacts read_facts(const Functions& nvml, Handle gpu);

GpuPeer read_peer(const Functions& nvml, Handle gpu, Handle other, std::string other_bus_id);

}  // namespace lab::nvml
