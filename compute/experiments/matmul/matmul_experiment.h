#pragma once
// Experiment behind `device-lab matmul` and the Matmul page: the peak, then each rung at each size.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/run/experiment.h"

namespace lab {

class DeviceContext;

// Sizes of a request that names none.
std::vector<std::int64_t> default_matmul_sizes();
// Throws Error(Usage) naming the first size that is out of range.
void check_matmul_sizes(const std::vector<std::int64_t>& sizes);

std::unique_ptr<Experiment> make_matmul_experiment(const StartMatmul& request);

// Returns every name that --kernels accepts besides "all" and "best", CPU rungs first. GPU rungs
// are included even if there is no GPU.
std::vector<std::string> matmul_kernel_names();

// Returns the rungs of a device in ladder order, library rungs last, with their descriptions for
// f32 operands where they support f32.
std::vector<RungInfo> matmul_rungs(DeviceContext& device);

}  // namespace lab
