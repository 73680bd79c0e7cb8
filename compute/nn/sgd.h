#pragma once
// Stochastic gradient descent with momentum and weight decay, in PyTorch's order of operations.
#include <span>

#include "compute/nn/network.h"

namespace lab::nn {

struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;
};

class Sgd {
 public:
  // With momentum, allocates as many bytes as the parameters occupy. `network` must outlive it.
  Sgd(Network& network, const SgdOptions& options);

  // Parameters -= lr * (gradient, or velocity with momentum).
  void step(double lr);

  // The velocity in the order of the flat parameters, for checkpoints; empty without momentum. It
  // holds no state before the first step.
  std::span<float> velocity();
  bool started() const { return !first_; }
  void set_started(bool started) { first_ = !started; }

 private:
  Network& network_;
  const SgdOptions options_;
  Buffer velocity_;
  bool first_ = true;
};

}  // namespace lab::nn
