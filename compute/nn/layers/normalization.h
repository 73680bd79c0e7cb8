#pragma once
// Batch normalisation over images and pixels, optionally followed by the addition of a second input
// and a relu, so that a residual block ends in one pass over memory.
//   x, residual [N,H,W,C]  weight, bias, running_mean, running_var [C]  y [N,H,W,C]
// Training uses the batch's biased variance and moves the running statistics by `momentum`, the
// running variance towards the unbiased one. Evaluation uses the running statistics.
// Numerics  FP32 elements; sums in FP64, in parts that are added in order
// Source    Ioffe and Szegedy, "Batch Normalization", 2015; eps and momentum: PyTorch's defaults
#include <cstddef>
#include <optional>
#include <vector>

#include "compute/nn/op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

class BatchNorm final : public Op {
 public:
  // `left_bias`, if given, is the bias that the producer of x did not add. Normalisation cancels
  // it, so it only shifts the means. Not adding it preserves precision in channels whose bias is
  // much larger than their spread.
  BatchNorm(std::int64_t channels, const Parameter& weight, const Parameter& bias,
            RunningStatistics& running, bool relu, const Parameter* left_bias = nullptr);

  const char* kind() const override { return "batch_norm"; }
  bool can_accumulate() const override { return false; }
  std::optional<std::size_t> gradient_in_place() const override {
    return has_residual() && inputs[1].needs_grad ? 1 : 0;
  }
  SavedValues saved_values() const override {
    return {.inputs = 1, .output = relu_ && has_residual()};
  }
  SavedValues gpu_saved_values() const override { return {.inputs = 1, .output = relu_}; }
  bool can_restore_output() const override { return !has_residual(); }
  std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const override;
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  void restore_output(const Pass& pass) override;
  std::int64_t gpu_workspace_bytes(const GpuPass& pass) const override;
  std::int64_t gpu_kept_bytes(const GpuPass& pass) const override;
  bool gpu_takes_bf16(const GpuPass& pass, const Value& value) const override;
  bool gpu_finds_largest() const override { return true; }
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;

 private:
  GpuBatchNorm gpu_norm(const GpuPass& pass) const;
  bool has_residual() const { return inputs.size() > 1; }

  struct Memory;
  Memory carve(Scratch scratch, std::int64_t rows, std::int64_t* used = nullptr) const;
  std::int64_t rows(const Pass& pass) const;
  template <typename Add>
  void sum_rows(const Pass& pass, const Memory& m, const Add& add) const;
  void batch_statistics(const Pass& pass);
  void normalise(const Pass& pass, const float* x, const float* residual, float* y) const;
  void running_statistics();
  double left_bias(std::size_t channel) const;

  static constexpr double kEps = 1e-5;
  static constexpr double kMomentum = 0.1;
  const std::int64_t channels_;
  const Parameter& weight_;
  const Parameter& bias_;
  RunningStatistics& running_;
  const bool relu_;
  const Parameter* left_bias_;
  std::vector<float> mean_, scale_;  // of the latest forward pass
  std::vector<double> inverse_deviation_;
  std::vector<float> mean_gradient_, slope_;  // of the backward pass
};

}  // namespace lab::nn
