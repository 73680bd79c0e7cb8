#pragma once
// Where the time of a step of several devices goes, over devices and over steps.
#include <span>

#include "compute/core/events/event.h"

namespace lab {

// Means over the devices. At least one device.
StepSplit split_of(std::span<const DeviceStep> devices);

// Each part's median over the steps; zeros without steps.
StepSplit median_split(std::span<const StepSplit> steps);

// The share of the all-reduce that ran behind a backward pass: 1 - exposed / all; 0 without any.
double hidden_share(const StepSplit& split);

}  // namespace lab
