#pragma once
// What a network is made of: values that flow between operations, the operations, and what a
// forward or backward pass gives to each of them.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/core/events/training_profile.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/machine/scratch.h"
#include "compute/machine/slice.h"
#include "compute/machine/thread_pool.h"

namespace lab::nn {

// ---- Values

// Size of one image's part. Stored as NHWC: [image, y, x, channel]; inside of a chain of operations
// (lane_chain.h) as blocks of images.
struct ImageShape {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

// Memory comes from the network's arena, for its largest batch, with slack for whole vectors after
// the end. `grad` is null for the network's input and where nobody writes it.
struct Value {
  ImageShape shape;
  float* data = nullptr;
  float* grad = nullptr;
};

// An input of an operation and what is to be done with its gradient.
struct Input {
  Value* value = nullptr;
  bool needs_grad = true;   // false for the network's input: no gradient memory
  bool accumulate = false;  // a later operation has already written the gradient: add to it
};

// ---- Passes

// What a network is to be prepared for.
struct Preparation {
  ThreadPool& pool;
  std::int64_t max_batch = 1;
  Precision products = Precision::F32;
  ConvolutionChooser& chooser;
  bool library = false;  // for the library's kernels too
};

struct Pass {
  ThreadPool& pool;
  std::int64_t batch = 0;  // images in this pass, at most the network's largest batch
  bool training = true;    // batch statistics, or the running ones
  Kernels kernels = Kernels::Lab;
  Precision products = Precision::F32;  // BF16: factors of matrix products are rounded to it
  Scratch scratch;
  std::stop_token stop;  // long operations look at it and return early
};

// Receives the time of each part of a training step.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // A phase, or in Forward and Backward the network's operation number `op`, took so long. Called
  // on the thread that drives the network; what it does itself is not timed.
  virtual void done(StepPhase phase, std::size_t op, double seconds) = 0;
};

// Does the work, timed where there is an observer.
template <typename Work>
void observed(StepObserver* observer, StepPhase phase, std::size_t op, const Work& work) {
  if (observer == nullptr) {
    work();
    return;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  work();
  observer->done(phase, op, std::chrono::duration<double>(Clock::now() - begin).count());
}

// ---- Operations

enum class Direction { Forward, Backward };

// What an operation can do on one block of images that lie side by side
// (compute/kernels/ops/image_lanes.h): vectors [height, width, channels] of one value of all
// images. One thread takes a block through several operations, so that it finds the block in its
// cache (lane_chain.h).
class LaneOp {
 public:
  virtual ~LaneOp() = default;

  // A thread's own memory for a pass, in bytes; its content stays from block to block.
  virtual std::int64_t bytes(Direction direction) const {
    static_cast<void>(direction);
    return 0;
  }
  // Before a thread's first block of a pass.
  virtual void begin(Direction direction, Scratch mine) const {
    static_cast<void>(direction), static_cast<void>(mine);
  }
  // Writes y; operations in place change x too.
  virtual void forward(float* x, float* y, Scratch mine) const = 0;
  // `x` as forward left it. Writes dx, null for the first of a chain where nobody asks for it, and
  // adds to its parameters' gradients in the thread's memory.
  virtual void backward(const float* x, const float* dy, float* dx, Scratch mine) const = 0;
  // After a thread's last block of backward.
  virtual void end(Scratch mine) const { static_cast<void>(mine); }
  // When all threads have ended: writes the parameters' gradients. Thread t's memory lies
  // t * stride_bytes behind the first one's.
  virtual void finish(Scratch first, std::int64_t stride_bytes, int threads) const {
    static_cast<void>(first), static_cast<void>(stride_bytes), static_cast<void>(threads);
  }
};

// One operation of a network. It owns no activations: values point into the network's arena.
class Op {
 public:
  virtual ~Op() = default;

  // What backward() reads again, so that the planner keeps it until then.
  struct Keeps {
    std::size_t inputs = 0;  // so many, from the first
    bool output = false;
  };

  virtual const char* kind() const = 0;
  virtual Keeps keeps() const = 0;
  // Called when the network's largest batch is known, before scratch_bytes().
  virtual void prepare(const Preparation& preparation) { static_cast<void>(preparation); }
  // Work memory for `threads` threads and up to `max_batch` images.
  virtual std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const {
    static_cast<void>(threads), static_cast<void>(max_batch);
    return 0;
  }
  // Whether backward() can add to an input's gradient, or only write it.
  virtual bool can_accumulate() const { return true; }
  virtual void forward(const Pass& pass) = 0;
  // Writes the gradients of its parameters and writes or adds to those of its inputs.
  virtual void backward(const Pass& pass) = 0;
  // The same on blocks of images, for Kernels::Lab; null where the operation cannot or, once it is
  // prepared, another way is faster.
  virtual const LaneOp* lanes() const { return nullptr; }
  // False: nobody asks for any gradient of it.
  bool has_backward() const {
    const auto needs_grad = [](const Input& input) { return input.needs_grad; };
    return !parameters.empty() || std::any_of(inputs.begin(), inputs.end(), needs_grad);
  }

  // For profiles: products and sums of the direct algorithm for `batch` images, 0 for operations
  // that move data and little else; and the name of the algorithm that is used, empty where there
  // is but one.
  virtual std::int64_t flop(Direction direction, std::int64_t batch) const {
    static_cast<void>(direction), static_cast<void>(batch);
    return 0;
  }
  virtual std::string method(Direction direction, Kernels kernels) const {
    static_cast<void>(direction), static_cast<void>(kernels);
    return {};
  }

  std::vector<Input> inputs;
  Value* output = nullptr;  // an input itself for operations in place
  std::vector<std::size_t> parameters;

 protected:
  Value& in(std::size_t i = 0) const { return *inputs[i].value; }
};

}  // namespace lab::nn
