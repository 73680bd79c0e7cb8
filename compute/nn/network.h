#pragma once
// A network with its memory on one device: forward, loss, backward over batches of up to a fixed
// size. One arena holds every activation and gradient; a step allocates nothing.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/nn/lane_chain.h"
#include "compute/nn/network_plan.h"
#include "compute/nn/op.h"
#include "compute/tensor/buffer.h"

namespace lab::nn {

// What the caller decides for a pass.
struct PassOptions {
  Kernels kernels = Kernels::Lab;  // of a step: forward's and backward's are the same
  // Long operations end early once it is requested; the pass then throws Error(Cancelled).
  std::stop_token stop = {};
  // Called between operations, and between chains of them, on the calling thread; may wait, may
  // throw.
  std::function<void()> between_ops = {};
  // Called in backward when a parameter's gradient is final, last parameters first.
  std::function<void(std::size_t parameter)> gradient_ready = {};
  // Told what each operation took; null: nobody.
  StepObserver* observer = nullptr;
};

// How its operations compute, for as long as the network lives.
struct KernelOptions {
  Precision products = Precision::F32;  // BF16: factors of matrix products are rounded to it
  ConvolutionChooser* chooser = &rule_chooser();
  // Passes with Kernels::Library will be asked for: their work memory is taken with the rest.
  bool library = false;
};

struct BatchResult {
  double loss_sum = 0;  // over the images of the batch
  std::int64_t correct = 0;
};

class Network {
 public:
  // Takes the plan's memory on `device`, which must outlive the network. Parameters start at
  // initialize()'s values for `seed`. Throws Error(OutOfMemory) with both numbers.
  Network(NetworkPlan plan, DeviceContext& device, std::int64_t max_batch, std::uint64_t seed = 0,
          const KernelOptions& kernels = {});
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::string& name() const { return plan_.name; }
  const NetworkPlan& plan() const { return plan_; }
  std::int64_t max_batch() const { return max_batch_; }
  // Takes other memory for activations, for batches up to this size; their content is lost. Throws
  // Error(OutOfMemory) with both numbers: then the network is unusable until it succeeds.
  void set_max_batch(std::int64_t max_batch);
  DeviceContext& device() const { return device_; }

  // Where the next batch goes: [batch, height, width, channels] floats and one label an image.
  float* input() { return plan_.values.front().data; }
  const ImageShape& input_shape() const { return plan_.values.front().shape; }
  std::uint8_t* labels() { return labels_; }
  std::int64_t classes() const { return logits().shape.size(); }

  // The three parts of a step, in this order. In `training`, batch norm uses the batch's
  // statistics.
  void forward(std::int64_t batch, bool training, const PassOptions& options);
  // Loss, predictions and, with `divisor`, the gradient of sum(loss) / divisor. The divisor is the
  // number of images in the whole batch, over all replicas.
  BatchResult loss(std::int64_t batch, std::optional<double> divisor);
  // Overwrites every parameter's gradient.
  void backward(std::int64_t batch, const PassOptions& options);

  // Of the latest loss(): one value an image. Valid until the next forward pass.
  std::span<const std::uint8_t> predicted(std::int64_t batch) const;
  std::span<const float> confidence(std::int64_t batch) const;
  std::span<const float> losses(std::int64_t batch) const;
  // Valid from forward() until backward(), which uses the memory again.
  const Value& logits() const { return *plan_.ops.back()->output; }

  std::deque<Parameter>& parameters() { return plan_.parameters; }
  const std::deque<Parameter>& parameters() const { return plan_.parameters; }
  std::deque<RunningStatistics>& running() { return plan_.running; }
  const std::deque<RunningStatistics>& running() const { return plan_.running; }
  std::int64_t parameter_count() const;  // learned numbers

  // All parameters, or all gradients, as one array in PyTorch's order; each starts on 64 bytes and
  // the gaps hold zeros.
  std::span<float> flat_parameters();
  std::span<float> flat_gradients();

 private:
  // In network_memory.cpp.
  void place_parameters();
  void mark_accumulating_inputs();
  void place_values();

  // The chain with this operation; null: none, or its kernels do not work in chains.
  LaneChain* chain_with(std::size_t op, Kernels kernels);
  void report_gradients(const Op& op, const PassOptions& options) const;
  Pass make_pass(std::int64_t batch, bool training, const PassOptions& options);

  NetworkPlan plan_;
  DeviceContext& device_;
  std::int64_t max_batch_;
  const KernelOptions kernels_;
  Buffer parameter_memory_, gradient_memory_, arena_;
  Scratch scratch_;
  std::vector<LaneChain> chains_;
  Kernels forward_kernels_ = Kernels::Lab;  // of the latest forward pass
  std::uint8_t* labels_ = nullptr;
  std::uint8_t* predicted_ = nullptr;
  float* confidence_ = nullptr;
  float* losses_ = nullptr;
};

// Draws every parameter anew and resets the running statistics. A parameter's values depend on
// `seed` and its place in the state dict alone.
void initialize(Network& network, std::uint64_t seed);

}  // namespace lab::nn
