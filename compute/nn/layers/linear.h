#pragma once
// Fully connected layer.
//   x [N,I]  weight [O,I]  bias [O]  y [N,O]
// Work     2*N*I*O FLOP forward, twice that backward
// Numerics FP32
#include "compute/nn/op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

class Linear final : public Op {
 public:
  Linear(std::int64_t in_size, std::int64_t out_size, const Parameter& weight,
         const Parameter& bias)
      : in_size_(in_size), out_size_(out_size), weight_(weight), bias_(bias) {}

  const char* kind() const override { return "linear"; }
  SavedValues saved_values() const override { return {.inputs = 1}; }
  std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const override;
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  std::int64_t gpu_workspace_bytes(const GpuPass& pass) const override;
  std::string gpu_method(Kernels kernels) const override {
    return kernels == Kernels::Library ? "cublas" : "implicit gemm";
  }
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;
  std::int64_t flop(Direction direction, std::int64_t batch) const override {
    const bool both = direction == Direction::Backward && inputs[0].needs_grad;
    return (both ? 4 : 2) * batch * in_size_ * out_size_;
  }
  std::string method(Direction /*direction*/, Kernels kernels) const override {
    return kernels == Kernels::Library ? "library" : "gemm";
  }

 private:
  GpuConvolution gpu_product(const GpuPass& pass) const;

  const std::int64_t in_size_, out_size_;
  const Parameter& weight_;
  const Parameter& bias_;
};

}  // namespace lab::nn
