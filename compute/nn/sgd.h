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
  // With momentum, takes as much memory again as the parameters do. `network` must outlive it.
  Sgd(Network& network, const SgdOptions& options);

  // Parameters -= lr * (gradient, or velocity with momentum).
  void step(double lr);

  // What it remembers, for checkpoints: empty without momentum, else in the order of the flat
  // parameters. Before the first step there is nothing worth keeping.
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
