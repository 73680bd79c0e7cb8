#pragma once
// Experiment behind `device-lab train` and the Training page.
#include <memory>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

std::unique_ptr<Experiment> make_training_experiment(const StartTraining& request);

}  // namespace lab
