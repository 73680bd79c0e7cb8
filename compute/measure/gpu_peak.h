#pragma once
// Peak throughput of a GPU's multiply-adds, the upper limit for every kernel.
#include <optional>

#include "compute/core/events/event.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"

namespace lab {

// Peak throughput by GpuMatmul::run_peak(). `gflops` is that of the fastest repetition, because it
// is a ceiling. Returns nullopt if the GPU has no instructions for the precision. Throws
// Error(Cancelled).
std::optional<PeakSample> measure_gpu_peak(DeviceContext& device, Precision precision,
                                           const MeasureOptions& options);

}  // namespace lab
