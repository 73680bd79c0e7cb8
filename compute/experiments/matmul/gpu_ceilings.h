#pragma once
// What a GPU can do at most, as measured by its own events behind a gate.
#include <optional>
#include <stop_token>

#include "compute/core/events/event.h"
#include "compute/core/events/roofline.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"

namespace lab {

// By GpuMatmul::run_peak(); `gflops` is that of the fastest repetition, because it is a ceiling.
// Nothing where the GPU has no instructions for the precision. Throws Error(Cancelled).
std::optional<PeakSample> measure_gpu_peak(DeviceContext& device, Precision precision,
                                           const MeasureOptions& options);

// Of the second-level cache and of memory, by a kernel that copies within the level; bytes read and
// bytes written both count. Remembered for later jobs, unless a level was not settled or found no
// room. Throws Error(Cancelled), Error(OutOfMemory).
const MeasuredBandwidths& gpu_bandwidths_of(DeviceContext& device, const std::stop_token& stop);

}  // namespace lab
