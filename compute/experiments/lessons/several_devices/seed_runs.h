#pragma once
// Small trainings of the lesson "accuracy": one network per seed, on a subset of images.
#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/experiments/lessons/several_devices/replicas.h"
#include "compute/machine/machine.h"
#include "compute/nn/network.h"
#include "compute/train/batch_loader.h"

namespace lab::lessons {

// What one suspect changes.
struct SeedSetting {
  std::int64_t batch = 16;
  double rate = 0.1;
  int slices = 1;     // of each batch, with a batch norm of their own
  bool fresh = true;  // false: the network of an earlier training, as in the chapter's second call
  bool operator==(const SeedSetting&) const = default;
};

// State of a network after a training.
struct TrainedState {
  std::vector<float> parameters;
  std::deque<nn::RunningStatistics> running;
};

// A network of three convolutions, with batch norm or without.
nn::NetworkPlan plan_small_network(bool with_norm);

// Trains replicas of one network on slices of each batch, on one device and on the calling thread.
class SeedTraining {
 public:
  // All arguments must outlive the object. `seed` determines initial weights and order of images.
  SeedTraining(nn::NetworkPlan (*plan)(), DeviceContext& device, const ImageSet& images,
               const SeedSetting& setting, std::uint64_t seed);

  // Continues from another training like the chapter's init_weights: convolution and linear weights
  // stay as drawn; biases, batch-norm scales and shifts, and running statistics are taken over.
  void keep_all_but_weights(const TrainedState& state);

  // Throws Error(Cancelled) once `stop` is requested.
  void train_epoch(const std::stop_token& stop);
  void step(std::int64_t step);
  double accuracy(const ImageSet& test);

  // The gradients of the latest step, summed over the slices.
  std::span<const float> gradients() const { return replicas_.sum(); }
  TrainedState state();

 private:
  DeviceContext& device_;
  const SeedSetting setting_;
  Replicas replicas_;
  BatchLoader loader_;
  std::int64_t epoch_ = 0;
};

}  // namespace lab::lessons
