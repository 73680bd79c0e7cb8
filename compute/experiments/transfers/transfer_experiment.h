#pragma once
// Experiment behind `device-lab transfer` and the Transfers page.
#include <memory>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

std::unique_ptr<Experiment> make_transfer_experiment(const StartTransfers& request);

}  // namespace lab
