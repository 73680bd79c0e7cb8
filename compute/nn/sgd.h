#pragma once
// Stochastic gradient descent with momentum and weight decay, in PyTorch's order of operations.
#include <memory>
#include <optional>
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
  ~Sgd();

  // Parameters -= lr * (gradient, or velocity with momentum). On a GPU, the update is queued on the
  // main stream and changes nothing if the GPU's latest loss is not finite, or, where GPUs sum
  // their gradients, that of any of them.
  void step(double lr);
  // Its halves, on a GPU. The update may be recorded, and then has the rate set last.
  void set_rate(double lr);
  void queue_update();

  // The velocity in the order of the flat parameters, for checkpoints; empty without momentum. It
  // holds no state before the first step. On a GPU it is a copy in host memory, which read_state()
  // and write_state() bring up to date, as those of Network.
  std::span<float> velocity();
  void read_state();
  void write_state();
  bool started() const { return !first_; }
  void set_started(bool started) { first_ = !started; }

 private:
  Network& network_;
  const SgdOptions options_;
  Buffer velocity_;
  Buffer rate_on_gpu_;                           // one float
  std::optional<float> rate_;                    // its value
  std::unique_ptr<PinnedMemory> host_velocity_;  // on a GPU, with momentum
  bool first_ = true;
};

}  // namespace lab::nn
