#pragma once
// Elementwise activations. Relu and Sigmoid work in place: their producer never reads its output.
#include "compute/nn/op.h"

namespace lab::nn {

class Relu final : public Op {
 public:
  const char* kind() const override { return "relu"; }
  SavedValues saved_values() const override { return {.output = true}; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;
};

class Sigmoid final : public Op {
 public:
  const char* kind() const override { return "sigmoid"; }
  SavedValues saved_values() const override { return {.output = true}; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;
};

}  // namespace lab::nn
