#pragma once
// `device-lab scaling` and the Scaling page.
#include <memory>

#include "compute/run/experiment.h"
#include "compute/core/events/command.h"

namespace lab {

std::unique_ptr<Experiment> make_scaling_experiment(const StartScaling& request);

}  // namespace lab
