#pragma once
// Stochastic gradient descent with momentum and weight decay, in PyTorch's order of operations.
#include "compute/nn/network.h"

namespace lab::nn {

struct SgdOptions {
  double lr = 0.1;
  double momentum = 0;
  double weight_decay = 0;
};

class Sgd {
 public:
  // With momentum, takes as much memory again as the parameters do. `network` must outlive it.
  Sgd(Network& network, const SgdOptions& options);

  // Parameters -= lr * (gradient, or velocity with momentum).
  void step();

 private:
  Network& network_;
  const SgdOptions options_;
  Buffer velocity_;
  bool first_ = true;
};

}  // namespace lab::nn
