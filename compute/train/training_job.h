#pragma once
// Runs a training from request to result, for every experiment that trains.
#include <cstdint>
#include <functional>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/data/dataset.h"
#include "compute/run/run_context.h"

namespace lab {

// Loads the images of a complete request. Generates synthetic ones, reported through ctx.progress.
Dataset load_training_data(const StartTraining& request, RunContext& ctx);

// Receives TrainingStarted, StepDone, StepTimeline, EpochDone, Predictions, Confusion,
// TrainingChanged and TrainingDone.
using TrainingSink = std::function<void(Payload)>;
// Provides the images; called once, after everything else has been checked.
using TrainingData = std::function<const Dataset&()>;
// Steps before the first timeline of a request that asks for timelines.
inline constexpr std::int64_t kTimelineWarmup = 2;

// Trains a complete request on its devices, together with other processes if there are any. Reports
// progress through `ctx` and results through `sink` (in the first process only). Has no timeline of
// the first `timeline_warmup` steps, unless there are no others: then of the last one. Throws like
// TrainingRun::run().
void run_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink,
                  const TrainingData& data, std::int64_t timeline_warmup = kTimelineWarmup);

// Measures the speed of a complete request in a few steps, at most about three seconds of them, on
// drawn images, and reports a TrainingRate. Throws Error(Unsupported) with several processes.
void probe_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink);

}  // namespace lab
