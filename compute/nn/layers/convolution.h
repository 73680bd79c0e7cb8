#pragma once
// 2-D convolution with a square kernel, stride, zero padding and bias.
//   x [N,H,W,I]  weight [O,k,k,I]  bias [O]  y [N,OH,OW,O]   NHWC
// Work     2*N*OH*OW*O*k*k*I FLOP forward, twice that backward
// Limits   any sizes >= 1 whose output is not empty
// Numerics those of the algorithm chosen for each stage
#include <optional>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/nn/layers/convolution_lanes.h"
#include "compute/nn/op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

class Convolution final : public Op {
 public:
  // Without `add_bias`, the bias is not added and its gradient is 0: a following batch norm cancels
  // any shift.
  Convolution(const simd::ConvShape& shape, const Parameter& weight, const Parameter& bias,
              bool add_bias = true);

  const char* kind() const override { return "convolution"; }
  SavedValues saved_values() const override { return {.inputs = 1}; }
  void prepare(const Preparation& preparation) override;
  std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const override;
  // Null unless every stage uses an algorithm on blocks of images and the bias is added.
  const LaneOp* lanes() const override { return lanes_ ? &*lanes_ : nullptr; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  std::int64_t gpu_workspace_bytes(const GpuPass& pass) const override;
  std::int64_t gpu_kept_bytes(const GpuPass& pass) const override;
  bool gpu_takes_bf16(const GpuPass& pass, const Value& value) const override;
  std::string gpu_method(Kernels kernels) const override {
    return kernels == Kernels::Library ? "cudnn" : "implicit gemm";
  }
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;
  std::int64_t flop(Direction direction, std::int64_t batch) const override;
  // Backward: "<input gradient>/<weight gradient>", or a single name if both are the same.
  std::string method(Direction direction, Kernels kernels) const override;

 private:
  GpuConvolution gpu_convolution(const GpuPass& pass) const;

  // One algorithm per stage.
  struct Algorithms {
    const ConvolutionAlgorithm* forward;
    const ConvolutionAlgorithm* input_gradient;
    const ConvolutionAlgorithm* weight_gradient;
  };
  const Algorithms& algorithms(Kernels kernels) const;
  std::int64_t bias_parts(std::int64_t batch) const;
  void bias_gradient(const Pass& pass) const;

  const simd::ConvShape shape_;
  const Parameter& weight_;
  const Parameter& bias_;
  const bool add_bias_;
  Algorithms lab_, library_;
  Precision products_ = Precision::F32;
  bool for_library_ = false;
  std::optional<ConvolutionLanes> lanes_;
};

}  // namespace lab::nn
