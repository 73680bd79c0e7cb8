#pragma once
// Stochastic gradient descent with momentum and weight decay, in PyTorch's order of operations.
#include <memory>
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
  // main stream; given `loss`, in its memory, it changes nothing if that loss is not finite.
  void step(double lr, const GpuLossSum* loss = nullptr);

  // The velocity in the order of the flat parameters, for checkpoints; empty without momentum. It
  // holds no state before the first step. On a GPU it is a copy in host memory, which read_state()
  // and write_state() bring up to date, as those of Network.
  std::span<float> velocity();
  void read_state();
  void write_state();
  bool started() const { return !first_; }
  void set_started(bool started) { first_ = !started; }

 private:
  void step_on_gpu(double lr, const GpuLossSum* loss);

  Network& network_;
  const SgdOptions options_;
  Buffer velocity_;
  std::unique_ptr<PinnedMemory> host_velocity_;  // on a GPU, with momentum
  bool first_ = true;
};

}  // namespace lab::nn
