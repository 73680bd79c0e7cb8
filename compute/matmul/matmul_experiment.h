#pragma once
// `device-lab matmul` and the Matmul page: peak, then each rung at each size.
#include <memory>
#include <string>
#include <vector>

#include "compute/run/experiment.h"
#include "compute/types/command.h"
#include "compute/types/event.h"

namespace lab {

std::unique_ptr<Experiment> make_matmul_experiment(const StartMatmul& request);

// The rungs of a device kind in ladder order, library rungs last: names for --kernels and the page.
// Those alone that compute with factors of `dtype`, and what they say of it.
std::vector<RungInfo> matmul_rungs(Device device, DType dtype = DType::F32);

}  // namespace lab
