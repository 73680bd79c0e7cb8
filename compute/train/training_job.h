#pragma once
// Runs a training from request to result, for every experiment that trains.
#include <functional>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/data/dataset.h"
#include "compute/run/run_context.h"

namespace lab {

// Loads the images of a complete request. Generates synthetic ones, reported through ctx.progress.
Dataset load_training_data(const StartTraining& request, RunContext& ctx);

// Receives TrainingStarted, StepDone, EpochDone, Predictions, Confusion, TrainingChanged and
// TrainingDone.
using TrainingSink = std::function<void(Payload)>;
// Provides the images; called once, after everything else has been checked.
using TrainingData = std::function<const Dataset&()>;

// Trains a complete request on its devices, together with other processes if there are any. Reports
// progress through `ctx` and results through `sink` (in the first process only). Throws like
// TrainingRun::run().
void run_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink,
                  const TrainingData& data);

// Measures the speed of a complete request in a few steps, at most about three seconds of them, on
// drawn images, and reports a TrainingRate. Throws Error(Unsupported) with several processes.
void probe_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink);

}  // namespace lab
