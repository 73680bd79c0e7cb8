#pragma once
// What NVML tells of a card again and again.
#include "compute/nvidia/nvml_library.h"
#include "compute/types/gpu_info.h"

namespace lab::nvml {

// Utilisation, clocks, memory, power, temperature.
void read_fast(const Functions& nvml, Handle card, GpuTelemetry& to);

// What changes within seconds: limits, links, fan, errors, processes. Processes get no name.
// PCIe throughput is left out: the driver counts 20 ms for each value, in the caller's time.
void read_slow(const Functions& nvml, Handle card, GpuTelemetry& to);

}  // namespace lab::nvml
