#pragma once
// One operation of a network. It owns no activations: values point into the network's arena.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/nn/lane_op.h"
#include "compute/nn/pass.h"
#include "compute/nn/value.h"

namespace lab::nn {

// An input of an operation and what is to be done with its gradient.
struct Input {
  Value* value = nullptr;
  bool needs_grad = true;   // false for the network's input: no gradient memory
  bool accumulate = false;  // a later operation has already written the gradient: add to it
};

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
