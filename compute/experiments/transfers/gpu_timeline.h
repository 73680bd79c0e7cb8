#pragma once
// Copies overlapped with a kernel, as one sees them on the streams of a GPU.
#include <cstdint>

#include "compute/core/events/event.h"
#include "compute/run/run_context.h"

namespace lab {

// Four parts of `bytes` each go in, are worked on for about as long as a copy takes, and come out:
// three streams, each with an event before and after every piece of work. Then the same on one
// stream. After one run to warm up, each is done five times and the median run is told. `bytes` >
// 0, a multiple of 16. Throws Error(OutOfMemory), Error(Cancelled).
TransferTimeline measure_overlap(RunContext& ctx, Device gpu, std::int64_t bytes);

}  // namespace lab
