#pragma once
// Experiment behind `device-lab scaling` and the Scaling page.
#include <memory>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

std::unique_ptr<Experiment> make_scaling_experiment(const StartScaling& request);

}  // namespace lab
