#pragma once
// Checkpoints from which training can resume: model, optimizer and position in the data. Random
// numbers need no state of their own: they depend only on seed, epoch and index.
//
//   DIR/step-00000470/model.safetensors       the state dict, as --save writes it
//                     optimizer.safetensors   momentum under the parameters' names, if any
//                     run.json                the request as last changed, the position, the
//                                             changes, the files' checksums
//
// A checkpoint is complete or absent: it is written under another name, flushed to disk, and
// renamed. Only one run at a time may write to a folder.
#include <cstdint>
#include <filesystem>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"

namespace lab {

// Position between two steps. Trivially copyable, so that ranks can send it.
struct TrainingPosition {
  std::int64_t steps = 0;          // updates made since the beginning
  std::int64_t epoch = 1;          // current epoch, from 1
  std::int64_t step_in_epoch = 0;  // steps made in it
  // Totals of the current epoch.
  double loss_sum = 0, epoch_seconds = 0;
  std::int64_t images = 0, correct = 0;
};

// What a checkpoint says of the training that wrote it.
struct ResumedTraining {
  TrainingPosition position = {};
  std::vector<TrainingChanged> changes = {};  // made so far
};

// Creates the folder. Throws Error(Io) if checkpoints cannot be written to it.
void check_checkpoint_folder(const std::filesystem::path& folder);

// Writes a checkpoint, replacing one of the same step, and returns its folder. Then keeps the
// newest two up to this step and removes older ones; those of later steps, left by a longer run,
// and all other files stay. Incomplete checkpoints of a killed run are removed first. Throws
// Error(Io) naming the file and the reason; older checkpoints then stay.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder,
                                      const StartTraining& request,
                                      const TrainingPosition& position, nn::Network& network,
                                      nn::Sgd& sgd,
                                      const std::vector<TrainingChanged>& changes = {});

// Loads the newest complete checkpoint in `folder`, the one with the most steps, or `folder` itself
// if it is one. Throws Error(NotFound) if there is none; Error(Corrupt) naming the file that is
// damaged, altered or missing; Error(Unsupported) for one of a later version;
// Error(InvalidArgument) naming the option and both values if `request`, which must be complete,
// would train something else (model, data, batch, order, seed, rates, momentum, weight decay). On
// an error, network and optimizer are unchanged. Devices, shares, kernels, steps and, unless the
// learning rate falls with them, epochs may differ.
ResumedTraining load_checkpoint(const std::filesystem::path& folder, const StartTraining& request,
                                nn::Network& network, nn::Sgd& sgd);

}  // namespace lab
