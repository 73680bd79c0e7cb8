#pragma once
// Runs the operations of a network on one kind of device: the threads of a CPU device, or the main
// stream of a GPU.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "compute/nn/lane_chain.h"
#include "compute/nn/network_plan.h"
#include "compute/nn/op.h"

namespace lab {

class DeviceContext;

}  // namespace lab

namespace lab::nn {

class GpuState;

// Options of one pass.
struct PassOptions {
  Kernels kernels = Kernels::Lab;  // must be the same in forward and backward of a step
  // Once requested, long operations end early and the pass throws Error(Cancelled).
  std::stop_token stop = {};
  // Called on the calling thread between operations and between chains of operations, and
  // repeatedly while the thread waits for a GPU whose gradients are to be reported. May wait and
  // may throw.
  std::function<void()> between_ops = {};
  // Called in backward once a parameter's gradient is final, last parameters first. On a GPU: once
  // the work that makes it final is queued on the main stream, for a group of parameters at a time.
  std::function<void(std::size_t parameter)> gradient_ready = {};
  // Receives the time of each operation; may be null.
  StepObserver* observer = nullptr;
};

// How operations compute, for the lifetime of the network.
struct KernelOptions {
  // Operands of matrix products are rounded to it. TF32 on GPUs only.
  Precision products = Precision::F32;
  ConvolutionChooser* chooser = &rule_chooser();  // on CPU devices
  double label_smoothing = 0;                     // of the loss that is differentiated
  // Also allocate the work memory of passes with Kernels::Library.
  bool library = false;
};

struct BatchResult {
  double loss_sum = 0;  // sum over the images of the batch
  std::int64_t correct = 0;
  // On a GPU, of a step: the time from the end of the step before it, or from begin_steps(), to its
  // end. 0 without begin_steps().
  double gpu_s = 0;
};

// Steps that a GPU can have queued.
inline constexpr std::size_t kMaxQueuedSteps = 32;

// Memory of a network's batches, on its device: one entry per image, and work memory.
struct BatchMemory {
  Scratch scratch;
  std::uint8_t* labels = nullptr;
  std::uint8_t* predicted = nullptr;
  float* confidence = nullptr;
  float* losses = nullptr;
  GpuLossSum* sum = nullptr;  // on a GPU
};

// The functions have the contracts of those of Network; arguments have been checked.
class Executor {
 public:
  Executor() = default;
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Prepares the operations; memory for the new size follows before the next pass.
  virtual void prepare(std::int64_t max_batch) = 0;
  // Bytes of BatchMemory::scratch, once prepared.
  virtual std::int64_t scratch_bytes() const = 0;
  // Bytes that each operation keeps from forward to backward, once prepared; empty: none does.
  virtual std::span<const std::int64_t> kept_bytes() const { return {}; }
  // Operations that run together, once prepared.
  virtual std::span<const LaneChain> chains() const { return {}; }
  // As Network::group_gradients().
  virtual void group_gradients(std::span<const std::size_t> first_parameters) {
    static_cast<void>(first_parameters);
  }

  virtual void forward(const BatchMemory& memory, std::int64_t batch, bool training,
                       const PassOptions& options) = 0;
  virtual BatchResult loss(const BatchMemory& memory, std::int64_t batch,
                           std::optional<double> divisor) = 0;
  virtual void backward(const BatchMemory& memory, std::int64_t batch,
                        const PassOptions& options) = 0;
  virtual void begin_steps() {}
  virtual void queue_step(const BatchMemory& memory, std::int64_t batch, double divisor,
                          const PassOptions& options, const std::function<void()>& update) = 0;
  virtual bool step_done() = 0;
  virtual BatchResult finish_step(const PassOptions& options) = 0;
  // Returns per-image results of the latest loss() in host memory, valid until the next call.
  virtual std::span<const std::uint8_t> on_host(const std::uint8_t* values, std::int64_t n) = 0;
  virtual std::span<const float> on_host(const float* values, std::int64_t n) = 0;
};

// `plan`, `device` and `state` must outlive the executor.
std::unique_ptr<Executor> make_cpu_executor(NetworkPlan& plan, DeviceContext& device,
                                            const KernelOptions& kernels);
std::unique_ptr<Executor> make_gpu_executor(NetworkPlan& plan, DeviceContext& device,
                                            const KernelOptions& kernels, GpuState& state);

// Called between operations. Throws Error(Cancelled) once the pass is to stop.
void after_op(const PassOptions& options);
void report_gradients(const Op& op, const PassOptions& options);

}  // namespace lab::nn
