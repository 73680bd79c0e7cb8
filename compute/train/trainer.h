#pragma once
// Trains one network on one device: steps and evaluations, nothing about jobs or files.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/nn/network.h"
#include "compute/nn/sgd.h"
#include "compute/train/batch_loader.h"

namespace lab {

struct TrainerOptions {
  std::string model;
  std::int64_t batch = 256;
  std::uint64_t seed = 0;
  nn::SgdOptions sgd;
};

struct StepResult {
  double loss = 0;  // mean over the batch, before the update
  std::int64_t images = 0, correct = 0;
};

// Over a whole set, in its order.
struct Evaluation {
  double loss = 0, accuracy = 0;
  std::vector<std::int64_t> confusion;  // [label * classes + predicted]
  std::vector<std::uint8_t> predicted;
  std::vector<float> confidence;
};

class Trainer {
 public:
  // Throws Error(NotFound) for an unknown model, Error(OutOfMemory) with both numbers.
  Trainer(DeviceContext& device, const TrainerOptions& options);

  nn::Network& network() { return network_; }

  // Loads the batch, then forward, loss, backward and the update. A loss that is not finite leaves
  // the parameters as they are.
  StepResult step(const BatchLoader& loader, std::int64_t step, const nn::PassOptions& options);

  Evaluation evaluate(const ImageSet& images, const nn::PassOptions& options);

 private:
  nn::Network network_;
  nn::Sgd sgd_;
};

}  // namespace lab
