#pragma once
// How long a run of the Transfers or Matmul form takes, from its time per case.
#include <cstddef>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/device_info.h"
#include "compute/core/events/event.h"

namespace lab::ui {

struct RunEstimate {
  std::size_t cases = 0;  // 0: the run has no time per case
  double seconds = 0;
};

// Series times sizes. With GPUs an upper bound: not every GPU reaches another one's memory. Empty
// for a quick sweep and a live run.
RunEstimate estimate_of(const StartTransfers& request, const MachineInfo& machine);

// Kernels times sizes, on every device. Kernels too slow for a size are counted. Of devices at
// once, the sizes. Empty for a live run.
RunEstimate estimate_of(const StartMatmul& request, const MachineInfo& machine,
                        const std::vector<RungInfo>& rungs);

// Seconds of a training step on one device at a rough rate, where no speed is known.
double typical_step_s(const StartTraining& training, const DeviceInfo& device);

}  // namespace lab::ui
