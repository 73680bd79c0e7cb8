#pragma once
// Experiment behind `device-lab train` and the Training page.
#include <memory>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

std::unique_ptr<Experiment> make_training_experiment(const StartTraining& request);
// Downloads Fashion-MNIST into the default folder.
std::unique_ptr<Experiment> make_fetch_experiment();

}  // namespace lab
