#pragma once
// One operation of a network. It owns no activations: values point into the network's arena.
#include <cstddef>
#include <cstdint>
#include <vector>

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
    bool input = false;
    bool output = false;
  };

  virtual const char* kind() const = 0;
  virtual Keeps keeps() const = 0;
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

  std::vector<Input> inputs;
  Value* output = nullptr;  // an input itself for operations in place
  std::vector<std::size_t> parameters;

 protected:
  Value& in(std::size_t i = 0) const { return *inputs[i].value; }
};

}  // namespace lab::nn
