#pragma once
// A training from request to result, for every experiment that trains.
#include <functional>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/data/dataset.h"
#include "compute/run/run_context.h"

namespace lab {

// The training and test images of a complete request. Draws synthetic ones under ctx.progress.
Dataset load_training_data(const StartTraining& request, RunContext& ctx);

// Where results go: TrainingStarted, StepDone, EpochDone, Predictions, Confusion, TrainingDone.
using TrainingSink = std::function<void(Payload)>;
// Where the images come from; asked for once, when everything else is known to be right.
using TrainingData = std::function<const Dataset&()>;

// Trains a complete request on its devices, and on the other processes' if there are some. Reports
// progress through `ctx`, results through `sink` (in the first process alone). Throws as
// TrainingRun does.
void run_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink,
                  const TrainingData& data);

}  // namespace lab
