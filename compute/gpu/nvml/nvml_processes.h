#pragma once
// Who uses a GPU, as NVML tells it.
#include <vector>

#include "compute/core/events/gpu_info.h"
#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {

// Each process once, those with the most memory first, without names; or why there is no list.
Maybe<std::vector<GpuProcess>> read_processes(const Functions& nvml, Handle gpu);

}  // namespace lab::nvml
