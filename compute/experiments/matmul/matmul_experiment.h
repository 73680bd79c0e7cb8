#pragma once
// `device-lab matmul` and the Matmul page: peak, then each rung at each size.
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/run/experiment.h"

namespace lab {

class DeviceContext;

std::unique_ptr<Experiment> make_matmul_experiment(const StartMatmul& request);

// Every name that --kernels takes beside "all" and "best", those of CPU devices first; also where
// there is no GPU.
std::vector<std::string> matmul_kernel_names();

// The rungs of a device in ladder order, library rungs last, with what they say of f32 factors
// where they take those.
std::vector<RungInfo> matmul_rungs(DeviceContext& device);

}  // namespace lab
