#pragma once
// Building blocks of a network: values, operations, and the arguments of forward and backward
// passes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/core/events/training_profile.h"
#include "compute/core/monotonic_clock.h"
#include "compute/gpu/gpu_layers.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/machine/scratch.h"
#include "compute/machine/slice.h"
#include "compute/machine/thread_pool.h"

namespace lab::nn {

// ---- Values

// Shape of one image of a value. Values are stored as NHWC, [image, y, x, channel]; inside a chain
// of operations (lane_chain.h), as blocks of interleaved images.
struct ImageShape {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

// Memory is in the network's arena, sized for its largest batch and padded for whole vectors at the
// end. `grad` is null for the network's input and where no operation writes it, and values may
// share it (Op::gradient_in_place()). backward() reads `saved`, which is `data` unless the value is
// computed again for it.
struct Value {
  ImageShape shape;
  float* data = nullptr;
  float* saved = nullptr;
  float* grad = nullptr;
  // Where a batch norm on a GPU leaves the bits of the largest magnitude of data and of grad, if it
  // alone writes them. Null otherwise.
  std::uint32_t* largest = nullptr;
  std::uint32_t* grad_largest = nullptr;
  // On a GPU, data and grad may be arrays of bf16 in the memory that the pointers name.
  DType dtype = DType::F32;

  GpuActivations gpu_data() const { return {data, dtype}; }
  GpuActivations gpu_grad() const { return {grad, dtype}; }
};

class Op;

// An input of an operation, and how backward() treats it and its gradient.
struct Input {
  Value* value = nullptr;
  Op* restored_by = nullptr;  // computes value->saved again before this operation's backward()
  bool needs_grad = true;     // false for the network's input, which has no gradient memory
  bool accumulate = false;    // add: a later operation has already written the gradient
};

// ---- Passes

// Arguments of Op::prepare().
struct Preparation {
  ThreadPool& pool;
  std::int64_t max_batch = 1;
  Precision products = Precision::F32;
  ConvolutionChooser& chooser;
  bool library = false;  // also prepare for Kernels::Library
};

struct Pass {
  ThreadPool& pool;
  std::int64_t batch = 0;  // images in this pass; at most the network's largest batch
  bool training = true;    // true: batch statistics; false: running statistics
  Kernels kernels = Kernels::Lab;
  Precision products = Precision::F32;  // BF16: operands of matrix products are rounded to it
  Scratch scratch;
  std::stop_token stop;  // long operations poll it and return early
};

// Receives the time of each part of a training step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // Reports the seconds taken by a phase or, in Forward and Backward, by the network's operation
  // number `op`. Called on the thread that drives the network; time spent in the callback is not
  // measured.
  virtual void done(StepPhase phase, std::size_t op, double seconds) = 0;
  // The same with begin and end on the steady clock, in seconds, for observers that need them.
  // Parts that ran interleaved, and those of a GPU, are laid end to end up to the time of the call.
  virtual void ran(StepPhase phase, std::size_t op, double begin_s, double end_s) {
    done(phase, op, end_s - begin_s);
  }
};

// Runs `work` and reports its time if `observer` is not null.
template <typename Work>
void observed(StepObserver* observer, StepPhase phase, std::size_t op, const Work& work) {
  if (observer == nullptr) {
    work();
    return;
  }
  const double begin_s = monotonic_s();
  work();
  observer->ran(phase, op, begin_s, monotonic_s());
}

struct GpuPass;  // gpu_state.h

// ---- Operations

enum class Direction { Forward, Backward };

// An operation on one block of image_lanes() interleaved images
// (compute/kernels/ops/image_lanes.h): vectors [height, width, channels], each with one value of
// every image of the block. One thread runs a block through several operations, so that the block
// stays in its cache (lane_chain.h).
class LaneOp {
 public:
  virtual ~LaneOp() = default;

  // Bytes of a thread's memory in a pass. Its content persists from block to block.
  virtual std::int64_t bytes(Direction direction) const {
    static_cast<void>(direction);
    return 0;
  }
  // Bytes of the parameters' gradients that a part of the batch contributes; 0 without parameters.
  virtual std::int64_t sum_bytes() const { return 0; }
  // Called before a thread's first block of a pass.
  virtual void begin(Direction direction, Scratch scratch) const {
    static_cast<void>(direction), static_cast<void>(scratch);
  }
  // Called before the first block of a part in backward.
  virtual void begin_part(Scratch scratch) const { static_cast<void>(scratch); }
  // Writes y. In-place operations also modify x.
  virtual void forward(float* x, float* y, Scratch scratch) const = 0;
  // `x` is as forward() left it. Writes dx, which is null for the first operation of a chain whose
  // input needs no gradient, and accumulates the parameters' gradients of the part in the thread's
  // memory.
  virtual void backward(const float* x, const float* dy, float* dx, Scratch scratch) const = 0;
  // Called after the last block of a part: writes its gradients to `sums`.
  virtual void end_part(Scratch scratch, Scratch sums) const {
    static_cast<void>(scratch), static_cast<void>(sums);
  }
  // Called once all parts have ended: writes the parameters' gradients. The sums of part p start
  // p * stride_bytes after `first`.
  virtual void finish(Scratch first, std::int64_t stride_bytes, std::int64_t parts) const {
    static_cast<void>(first), static_cast<void>(stride_bytes), static_cast<void>(parts);
  }
};

// One operation of a network. It owns no activations: its values are in the network's arena.
class Op {
 public:
  virtual ~Op() = default;

  // Values that backward() reads, which the planner keeps until then or has computed again.
  struct SavedValues {
    std::size_t inputs = 0;  // number of inputs, counted from the first
    bool output = false;
  };

  virtual const char* kind() const = 0;
  virtual SavedValues saved_values() const = 0;
  // The same for gpu_backward().
  virtual SavedValues gpu_saved_values() const { return saved_values(); }
  // Returns true if forward() changes its first input, although the output is another value.
  virtual bool changes_input() const { return false; }
  // Returns true if restore_output() can compute the output again from the saved inputs in a small
  // part of a step. Then the output need not be kept for backward() of the operations that read it.
  virtual bool can_restore_output() const { return false; }
  // Called once the network's largest batch is known, before scratch_bytes().
  virtual void prepare(const Preparation& preparation) { static_cast<void>(preparation); }
  // Bytes of work memory for `threads` threads and up to `max_batch` images.
  virtual std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const {
    static_cast<void>(threads), static_cast<void>(max_batch);
    return 0;
  }
  // Returns false if backward() can only overwrite an input's gradient.
  virtual bool can_accumulate() const { return true; }
  // The input, of the output's shape, whose gradient may have the memory of the output's gradient.
  // backward() must work either way.
  virtual std::optional<std::size_t> gradient_in_place() const { return {}; }
  virtual void forward(const Pass& pass) = 0;
  // Writes the gradients of its parameters; writes or accumulates those of its inputs.
  virtual void backward(const Pass& pass) = 0;
  // Writes output->saved: the bits of the latest forward() in training. Called before backward().
  virtual void restore_output(const Pass& pass) { static_cast<void>(pass); }
  // The same operation on blocks of images, for Kernels::Lab. Null if the operation does not
  // support blocks or if, once prepared, another algorithm is faster.
  virtual const LaneOp* lanes() const { return nullptr; }

  // On a GPU, where the functions above are not used: queue the operation on the main stream.
  // gpu_forward() does not count the batch in the running statistics.
  virtual std::int64_t gpu_workspace_bytes(const GpuPass& pass) const {
    static_cast<void>(pass);
    return 0;
  }
  // Whether `value`, an input or the output, and its gradient may be bf16 while the operation's
  // other values are of the types that they have.
  virtual bool gpu_takes_bf16(const GpuPass& pass, const Value& value) const {
    static_cast<void>(pass), static_cast<void>(value);
    return false;
  }
  // Whether the operation finds the largest magnitudes of its output and of its first input's
  // gradient.
  virtual bool gpu_finds_largest() const { return false; }
  // Bytes that forward keeps for backward besides values, and where they are.
  virtual std::int64_t gpu_kept_bytes(const GpuPass& pass) const {
    static_cast<void>(pass);
    return 0;
  }
  std::byte* gpu_kept = nullptr;
  virtual std::string gpu_method(Kernels kernels) const {  // as method()
    static_cast<void>(kernels);
    return {};
  }
  virtual void gpu_forward(const GpuPass& pass) = 0;
  virtual void gpu_backward(const GpuPass& pass) = 0;

  // Returns false if neither a parameter nor an input needs a gradient.
  bool has_backward() const {
    const auto needs_grad = [](const Input& input) { return input.needs_grad; };
    return !parameters.empty() || std::any_of(inputs.begin(), inputs.end(), needs_grad);
  }

  // For profiles: the FLOP of the direct algorithm for `batch` images, 0 for operations that mostly
  // move data; and the name of the algorithm in use, empty if there is only one.
  virtual std::int64_t flop(Direction direction, std::int64_t batch) const {
    static_cast<void>(direction), static_cast<void>(batch);
    return 0;
  }
  virtual std::string method(Direction direction, Kernels kernels) const {
    static_cast<void>(direction), static_cast<void>(kernels);
    return {};
  }

  std::vector<Input> inputs;
  Value* output = nullptr;  // the input itself for in-place operations
  std::vector<std::size_t> parameters;

 protected:
  Value& in(std::size_t i = 0) const { return *inputs[i].value; }
};

}  // namespace lab::nn
