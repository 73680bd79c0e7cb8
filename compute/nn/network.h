#pragma once
// A network with its memory on one device: forward, loss and backward over batches up to a fixed
// size. One arena holds all activations and their gradients; a step allocates nothing.
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/nn/executor.h"
#include "compute/nn/gpu_state.h"
#include "compute/nn/network_plan.h"
#include "compute/tensor/buffer.h"

namespace lab::nn {

class Network {
 public:
  // Allocates the plan's memory on `device`, which must outlive the network, and calls initialize()
  // with `seed`. Without `max_batch`, set_max_batch() must be called before the first batch. Throws
  // Error(OutOfMemory) with the requested and the available bytes.
  Network(NetworkPlan plan, DeviceContext& device, std::optional<std::int64_t> max_batch,
          std::uint64_t seed = 0, const KernelOptions& kernels = {});
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::string& name() const { return plan_.name; }
  const NetworkPlan& plan() const { return plan_; }
  std::int64_t max_batch() const { return max_batch_; }
  // Reallocates the activations for batches of up to `max_batch` images; their content is lost.
  // Throws Error(OutOfMemory) with the requested and the available bytes; the network is then
  // unusable until a call succeeds.
  void set_max_batch(std::int64_t max_batch);
  // Bytes that set_max_batch() would allocate; empty if an array had more elements than the
  // device's kernels address. Plans anew; a GPU then records its steps again.
  std::optional<std::int64_t> activation_bytes(std::int64_t max_batch);
  // Bytes that it has allocated.
  std::int64_t activation_bytes() const { return arena_.bytes(); }
  DeviceContext& device() const { return device_; }

  // Input of the next batch, on the device: [batch, height, width, channels] floats and one label
  // per image.
  float* input() { return plan_.values.front().data; }
  const ImageShape& input_shape() const { return plan_.values.front().shape; }
  std::uint8_t* labels() { return batch_memory_.labels; }
  std::int64_t classes() const { return logits().shape.size(); }

  // The three parts of a step, to be called in this order. If `training`, batch norm uses the
  // batch's statistics.
  void forward(std::int64_t batch, bool training, const PassOptions& options);
  // Computes loss, predictions and, given `divisor`, the gradient of sum(loss) / divisor. The
  // divisor is the number of images in the whole batch, over all replicas.
  BatchResult loss(std::int64_t batch, std::optional<double> divisor);
  // Overwrites every parameter's gradient.
  void backward(std::int64_t batch, const PassOptions& options);

  // The three in one, with `training`, which takes less time on a GPU.
  BatchResult step(std::int64_t batch, double divisor, const PassOptions& options);
  // Its halves. A GPU can have up to kMaxQueuedSteps steps queued, between which updates may be
  // queued on the main stream; a CPU device has finished the only one when queue_step() returns.
  // The results are taken in order: step_done() returns whether that of the oldest step is there,
  // and finish_step() waits for it. No other pass may run in between. begin_steps() starts the
  // clock of the steps that follow each other.
  // `update` does what follows backward in the step. A GPU records what it queues with the step, so
  // it must be the same in each.
  void begin_steps() { executor_->begin_steps(); }
  void queue_step(std::int64_t batch, double divisor, const PassOptions& options,
                  const std::function<void()>& update = {});
  bool step_done();
  BatchResult finish_step(const PassOptions& options);
  // Groups of parameters whose gradients a GPU reports together, before the work of the next group
  // is queued. Group i begins with parameter first_parameters[i], which descend to 0, and ends
  // where the group before it begins. Initially all parameters form one group. CPU devices report
  // every gradient by itself.
  void group_gradients(std::span<const std::size_t> first_parameters);

  // Results of the latest loss(), one value per image, in host memory. Valid until the next forward
  // pass or call of these functions.
  std::span<const std::uint8_t> predicted(std::int64_t batch);
  std::span<const float> confidence(std::int64_t batch);
  std::span<const float> losses(std::int64_t batch);
  // On the device; valid from forward() until backward(), which reuses the memory.
  const Value& logits() const { return *plan_.ops.back()->output; }

  std::deque<Parameter>& parameters() { return plan_.parameters; }
  const std::deque<Parameter>& parameters() const { return plan_.parameters; }
  std::deque<RunningStatistics>& running() { return plan_.running; }
  const std::deque<RunningStatistics>& running() const { return plan_.running; }
  std::int64_t parameter_count() const;  // number of learned values

  // All parameters, or all gradients, as one array in host memory, in the order of the state dict.
  // Each parameter is aligned to 64 bytes; gaps hold zeros. On a CPU device this is the memory that
  // the network computes with. On a GPU, these arrays, the parameters' pointers into them and
  // running() are copies, which the functions below bring up to date; gradients are copied by
  // their reducer only.
  std::span<float> flat_parameters();
  std::span<float> flat_gradients();

  // Copy parameters and running statistics, or running statistics, from the GPU to their copies in
  // host memory, or back. They return when the copy is complete, and do nothing on a CPU device.
  void read_state();
  void write_state();
  void read_statistics();
  void write_statistics();

  // Keeps the running statistics of this moment, or takes the kept ones back. Only the first call
  // allocates.
  void keep_statistics();
  void restore_statistics();

  // Waits for the work queued on a GPU; returns at once on a CPU device.
  void wait();

  // Null on a CPU device.
  GpuState* gpu_state() { return gpu_state_.get(); }

 private:
  // Defined in network_memory.cpp.
  void place_parameters();
  void mark_accumulating_inputs();
  void place_values(std::int64_t max_batch);

  void check_batch(std::int64_t batch) const;

  NetworkPlan plan_;
  DeviceContext& device_;
  std::int64_t max_batch_ = 0;
  const KernelOptions kernels_;
  Buffer parameter_memory_, gradient_memory_;  // on a CPU device
  std::unique_ptr<GpuState> gpu_state_;        // on a GPU
  std::unique_ptr<Executor> executor_;
  Buffer arena_;
  BatchMemory batch_memory_;
  std::deque<RunningStatistics> kept_;      // on a CPU device
  Kernels forward_kernels_ = Kernels::Lab;  // of the latest forward pass
  std::int64_t forward_batch_ = 0;          // likewise
};

// Redraws every parameter and resets the running statistics, on every device to the same values. A
// parameter's values depend only on `seed` and its position in the state dict.
void initialize(Network& network, std::uint64_t seed);

// Copies values only: operations keep pointing to `to`.
void copy_statistics(const std::deque<RunningStatistics>& from, std::deque<RunningStatistics>& to);

}  // namespace lab::nn
