#pragma once
// Training that can go on where it was: model, optimizer and the position in the data. Random
// numbers need no state of their own: they depend on seed, epoch and index alone.
//
//   DIR/step-00000470/model.safetensors       the state dict, as --save writes it
//                     optimizer.safetensors   momentum under the parameters' names, where there is
//                                             some
//                     run.json                the request, the position, the files' checksums
//
// A checkpoint is there whole or not at all: it is written under another name, reaches the disk,
// and is renamed. One run at a time writes to a folder.
#include <cstdint>
#include <filesystem>

#include "compute/core/events/command.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"

namespace lab {

// Between two steps. Trivially copyable, so that ranks can send it.
struct TrainingPosition {
  std::int64_t steps = 0;          // updates made since the beginning
  std::int64_t epoch = 1;          // the one under way, from 1
  std::int64_t step_in_epoch = 0;  // steps made of it
  // Of the epoch under way.
  double loss_sum = 0, epoch_seconds = 0;
  std::int64_t images = 0, correct = 0;
};

// Throws Error(Io) when checkpoints cannot be written to `folder`; makes the folder.
void check_checkpoint_folder(const std::filesystem::path& folder);

// Writes one and returns its folder; one of the same step gives way. Afterwards the newest two up
// to this step are kept, older ones removed; those of later steps, which a longer run left, stay,
// and so does everything else. What a killed run left half-written is removed first. Throws
// Error(Io) naming file and reason; older checkpoints stay then.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder,
                                      const StartTraining& request,
                                      const TrainingPosition& position, nn::Network& network,
                                      nn::Sgd& sgd);

// Loads the newest whole one, the one of most steps, or `folder` itself where it is one. Throws
// Error(NotFound) when there is none; Error(Corrupt) naming the file that is damaged, altered or
// missing; Error(Unsupported) for one of a later version; Error(InvalidArgument) naming the option
// and both values where `request`, which is complete, would train something else (model, data,
// batch, order, seed, rates, momentum, weight decay). Then network and optimizer are as they were.
// Devices, shares, kernels, epochs and steps may differ.
TrainingPosition load_checkpoint(const std::filesystem::path& folder, const StartTraining& request,
                                 nn::Network& network, nn::Sgd& sgd);

}  // namespace lab
