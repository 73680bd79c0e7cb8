#pragma once
// Experiment behind `device-lab tour` and the Tour page: runs the experiments of other pages,
// short, on every device, and reports one figure per question. Their own results are emitted as
// well.
#include <memory>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

// Emulated GPUs are skipped. A device that cannot answer a question (too little memory, or not
// supported) reports the reason as a figure without a value.
std::unique_ptr<Experiment> make_tour_experiment(const StartTour& request);

}  // namespace lab
