#pragma once
// What NVML tells of a GPU again and again.
#include "compute/core/events/gpu_info.h"
#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {

// Utilisation, clocks, memory, power, temperature.
void read_fast(const Functions& nvml, Handle gpu, GpuTelemetry& to);

// What changes within seconds: limits, links, fan, modes, errors, processes. Processes get no name.
void read_slow(const Functions& nvml, Handle gpu, GpuTelemetry& to);

// What moves over PCIe: the driver counts 20 ms for each of two values, in the caller's time.
void read_throughput(const Functions& nvml, Handle gpu, GpuTelemetry& to);

}  // namespace lab::nvml
