#pragma once
// Replicas of one network and the parts of a data-parallel step on them, written to be read: a
// gradient per replica, their sum, an update on each. Everything runs on the calling thread.
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"
#include "compute/train/batch_loader.h"

namespace lab::lessons {

class Replicas {
 public:
  // Adds a replica with the initial weights of `seed`, for up to `capacity` images.
  void add(nn::NetworkPlan plan, DeviceContext& device, std::int64_t capacity, std::uint64_t seed);

  std::size_t size() const { return nets_.size(); }
  std::deque<nn::Network>& nets() { return nets_; }

  // The images of a batch that replica i computes.
  BatchSlice slice(std::int64_t batch, std::size_t i) const;

  void clear_sum();
  // Computes replica i's gradient for the images in its input, the sum of their losses divided by
  // `divisor`, and adds it to the sum.
  void add_gradient(std::size_t i, std::int64_t images, double divisor);
  // The sum of the replicas' gradients.
  const std::vector<float>& sum() const { return sum_; }
  // Replaces replica i's own gradient by the sum.
  void take_sum(std::size_t i);
  // Updates replica i with its gradient.
  void update(std::size_t i, double rate) { optimizers_[i].step(rate); }

 private:
  std::deque<nn::Network> nets_;
  std::deque<nn::Sgd> optimizers_;
  std::vector<float> sum_;
};

}  // namespace lab::lessons
