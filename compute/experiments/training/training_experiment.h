#pragma once
// `device-lab train` and the Training page.
#include <memory>

#include "compute/run/experiment.h"
#include "compute/core/events/command.h"

namespace lab {

std::unique_ptr<Experiment> make_training_experiment(const StartTraining& request);

}  // namespace lab
