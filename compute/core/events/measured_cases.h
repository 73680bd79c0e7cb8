#pragma once
// What a run measures, known before it starts: for its plan, its form, and estimates of its time.
#include "compute/core/device.h"
#include "compute/core/events/command.h"

namespace lab {

// Whether transfers from one device to the other include the operation. Copies both ways and
// latencies between the host and a GPU are the same in both directions and belong to the one
// towards the GPU. An emulated GPU is not timed.
bool is_measured_between(TransferOp op, Device from, Device to);

}  // namespace lab
