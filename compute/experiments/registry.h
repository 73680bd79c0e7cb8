#pragma once
// Maps each job command to its experiment and title; a new experiment is registered here only.
#include <memory>
#include <string>

#include "compute/core/events/command.h"
#include "compute/run/experiment.h"

namespace lab {

// Never returns null. Cheap: the request is validated in Experiment::run().
std::unique_ptr<Experiment> make_experiment(const JobCommand& command);

// Title of the job in the status bar and the log, for example "Training LeNet on cpu:0".
std::string job_title(const JobCommand& command);

}  // namespace lab
