#pragma once
// A network with its memory on one device: forward, loss and backward over batches up to a fixed
// size. One arena holds all activations and their gradients; a step allocates nothing.
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

// Options of one pass.
struct PassOptions {
  Kernels kernels = Kernels::Lab;  // must be the same in forward and backward of a step
  // Once requested, long operations end early and the pass throws Error(Cancelled).
  std::stop_token stop = {};
  // Called on the calling thread between operations and between chains of operations. May wait and
  // may throw.
  std::function<void()> between_ops = {};
  // Called in backward once a parameter's gradient is final, last parameters first.
  std::function<void(std::size_t parameter)> gradient_ready = {};
  // Receives the time of each operation; may be null.
  StepObserver* observer = nullptr;
};

// How operations compute, for the lifetime of the network.
struct KernelOptions {
  Precision products = Precision::F32;  // BF16: operands of matrix products are rounded to it
  ConvolutionChooser* chooser = &rule_chooser();
  // Also allocate the work memory of passes with Kernels::Library.
  bool library = false;
};

struct BatchResult {
  double loss_sum = 0;  // sum over the images of the batch
  std::int64_t correct = 0;
};

class Network {
 public:
  // Allocates the plan's memory on `device`, which must outlive the network, and calls initialize()
  // with `seed`. Throws Error(OutOfMemory) with the requested and the available bytes.
  Network(NetworkPlan plan, DeviceContext& device, std::int64_t max_batch, std::uint64_t seed = 0,
          const KernelOptions& kernels = {});
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::string& name() const { return plan_.name; }
  const NetworkPlan& plan() const { return plan_; }
  std::int64_t max_batch() const { return max_batch_; }
  // Reallocates the activations for batches of up to `max_batch` images; their content is lost.
  // Throws Error(OutOfMemory) with both sizes; the network is then unusable until a call succeeds.
  void set_max_batch(std::int64_t max_batch);
  DeviceContext& device() const { return device_; }

  // Input of the next batch: [batch, height, width, channels] floats and one label per image.
  float* input() { return plan_.values.front().data; }
  const ImageShape& input_shape() const { return plan_.values.front().shape; }
  std::uint8_t* labels() { return labels_; }
  std::int64_t classes() const { return logits().shape.size(); }

  // The three parts of a step, to be called in this order. If `training`, batch norm uses the
  // batch's statistics.
  void forward(std::int64_t batch, bool training, const PassOptions& options);
  // Computes loss, predictions and, given `divisor`, the gradient of sum(loss) / divisor. The
  // divisor is the number of images in the whole batch, over all replicas.
  BatchResult loss(std::int64_t batch, std::optional<double> divisor);
  // Overwrites every parameter's gradient.
  void backward(std::int64_t batch, const PassOptions& options);

  // Results of the latest loss(), one value per image. Valid until the next forward pass.
  std::span<const std::uint8_t> predicted(std::int64_t batch) const;
  std::span<const float> confidence(std::int64_t batch) const;
  std::span<const float> losses(std::int64_t batch) const;
  // Valid from forward() until backward(), which reuses the memory.
  const Value& logits() const { return *plan_.ops.back()->output; }

  std::deque<Parameter>& parameters() { return plan_.parameters; }
  const std::deque<Parameter>& parameters() const { return plan_.parameters; }
  std::deque<RunningStatistics>& running() { return plan_.running; }
  const std::deque<RunningStatistics>& running() const { return plan_.running; }
  std::int64_t parameter_count() const;  // number of learned values

  // All parameters, or all gradients, as one array in the order of the state dict. Each parameter
  // is aligned to 64 bytes; gaps hold zeros.
  std::span<float> flat_parameters();
  std::span<float> flat_gradients();

 private:
  // Defined in network_memory.cpp.
  void place_parameters();
  void mark_accumulating_inputs();
  void place_values();

  // The chain that contains `op`; null if there is none or if `kernels` do not run in chains.
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

// Redraws every parameter and resets the running statistics. A parameter's values depend only on
// `seed` and its position in the state dict.
void initialize(Network& network, std::uint64_t seed);

}  // namespace lab::nn
