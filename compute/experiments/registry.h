#pragma once
// Which experiment answers which command: the one place to extend for a new one.
#include <memory>
#include <string>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

// Never null. Cheap: the experiment validates in run().
std::unique_ptr<Experiment> make_experiment(const JobCommand& command);

// What the status bar and the log call the job: "Training lenet on cpu:0".
std::string job_title(const JobCommand& command);

}  // namespace lab
