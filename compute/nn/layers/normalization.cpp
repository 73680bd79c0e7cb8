#include "compute/nn/layers/normalization.h"

#include <algorithm>
#include <cmath>

#include "compute/kernels/ops/batch_norm.h"
#include "compute/nn/gpu_state.h"

namespace lab::nn {

struct BatchNorm::Memory {
  double* sums = nullptr;  // [parts][sums_stride]: two sums per channel
  std::int64_t sums_stride = 0;
  std::int64_t parts = 1;  // of the rows
};

BatchNorm::BatchNorm(std::int64_t channels, const Parameter& weight, const Parameter& bias,
                     RunningStatistics& running, bool relu, const Parameter* left_bias)
    : channels_(channels),
      weight_(weight),
      bias_(bias),
      running_(running),
      relu_(relu),
      left_bias_(left_bias),
      mean_(static_cast<std::size_t>(channels)),
      scale_(mean_.size()),
      inverse_deviation_(mean_.size()),
      mean_gradient_(mean_.size()),
      slope_(mean_.size()) {}

BatchNorm::Memory BatchNorm::carve(Scratch scratch, std::int64_t rows, std::int64_t* used) const {
  constexpr std::int64_t kFewestRows = 64;
  Memory m;
  m.parts = sum_parts(rows, kFewestRows);
  m.sums_stride = (2 * channels_ + 7) / 8 * 8;
  ScratchCursor cursor(scratch);
  m.sums = cursor.take<double>(m.sums_stride * m.parts);
  if (used != nullptr) *used = cursor.used_bytes();
  return m;
}

std::int64_t BatchNorm::scratch_bytes(int /*threads*/, std::int64_t max_batch) const {
  std::int64_t used = 0;
  carve({}, max_batch * output->shape.height * output->shape.width, &used);
  return used;
}

std::int64_t BatchNorm::rows(const Pass& pass) const {
  return pass.batch * output->shape.height * output->shape.width;
}

// add(slice, first, second) adds the rows of one part to two sums per channel. Those of all parts,
// added in order, are left in m.sums.
template <typename Add>
void BatchNorm::sum_rows(const Pass& pass, const Memory& m, const Add& add) const {
  pass.pool.run_parts(m.parts, [&](std::int64_t part, int /*thread*/) {
    double* sums = m.sums + part * m.sums_stride;
    std::fill(sums, sums + 2 * channels_, 0.0);
    add(slice_of(rows(pass), m.parts, part), sums, sums + channels_);
  });
  for (std::int64_t part = 1; part < m.parts; ++part) {
    const double* sums = m.sums + part * m.sums_stride;
    for (std::int64_t i = 0; i < 2 * channels_; ++i) m.sums[i] += sums[i];
  }
}

void BatchNorm::batch_statistics(const Pass& pass) {
  const std::int64_t n = rows(pass);
  const float* x = in().data;
  const float* centre = x;  // the first row
  const Memory m = carve(pass.scratch, n);
  sum_rows(pass, m, [&](const Slice& slice, double* sums, double* squares) {
    simd::centred_sums(x + slice.begin * channels_, centre, slice.end - slice.begin, channels_,
                       sums, squares);
  });
  const double share = 1.0 / static_cast<double>(n);
  const double unbiased =
      static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(1, n - 1));
  for (std::size_t c = 0; c < mean_.size(); ++c) {
    const double from_centre = m.sums[c] * share;
    const double squares = m.sums[mean_.size() + c] * share;
    // In this order, NaN stays NaN.
    const double variance = std::max(squares - from_centre * from_centre, 0.0);
    mean_[c] = static_cast<float>(centre[c] + from_centre);
    inverse_deviation_[c] = 1.0 / std::sqrt(variance + kEps);
    running_.mean[c] = static_cast<float>((1 - kMomentum) * running_.mean[c] +
                                          kMomentum * (mean_[c] + left_bias(c)));
    running_.variance[c] = static_cast<float>((1 - kMomentum) * running_.variance[c] +
                                              kMomentum * variance * unbiased);
  }
  ++running_.batches;
}

double BatchNorm::left_bias(std::size_t channel) const {
  return left_bias_ == nullptr ? 0 : left_bias_->value[channel];
}

void BatchNorm::running_statistics() {
  for (std::size_t c = 0; c < mean_.size(); ++c) {
    mean_[c] = static_cast<float>(running_.mean[c] - left_bias(c));
    inverse_deviation_[c] = 1.0 / std::sqrt(double{running_.variance[c]} + kEps);
  }
}

void BatchNorm::forward(const Pass& pass) {
  if (pass.training) {
    batch_statistics(pass);
  } else {
    running_statistics();
  }
  for (std::size_t c = 0; c < mean_.size(); ++c) {
    scale_[c] = static_cast<float>(weight_.value[c] * inverse_deviation_[c]);
  }
  normalise(pass, in().data, has_residual() ? in(1).data : nullptr, output->data);
}

void BatchNorm::normalise(const Pass& pass, const float* x, const float* residual, float* y) const {
  const simd::NormArgs args{mean_.data(), scale_.data(), bias_.value, relu_};
  pass.pool.parallel_for(rows(pass), 64, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = begin * channels_;
    simd::normalise(x + at, residual == nullptr ? nullptr : residual + at, y + at, args,
                    end - begin, channels_);
  });
}

void BatchNorm::restore_output(const Pass& pass) {
  normalise(pass, in().saved, nullptr, output->saved);
}

void BatchNorm::backward(const Pass& pass) {
  const std::int64_t n = rows(pass);
  const Memory m = carve(pass.scratch, n);
  simd::NormArgs args{mean_.data(), scale_.data(), bias_.value, relu_};
  const float* x = in().saved;
  const float* y = saved_values().output ? output->saved : nullptr;
  // Where the relu's gradient is stored, so that y is read once.
  float* g = nullptr;
  if (has_residual()) g = inputs[1].needs_grad ? in(1).grad : output->grad;
  sum_rows(pass, m, [&](const Slice& slice, double* sum_g, double* sum_gx) {
    const std::int64_t at = slice.begin * channels_;
    simd::norm_backward_sums(x + at, y == nullptr ? y : y + at, output->grad + at, args,
                             slice.end - slice.begin, channels_, sum_g, sum_gx,
                             g == nullptr ? g : g + at);
  });
  const double share = 1.0 / static_cast<double>(n);
  for (std::size_t c = 0; c < mean_.size(); ++c) {
    const double sum_g = m.sums[c], sum_gx = m.sums[static_cast<std::size_t>(channels_) + c];
    bias_.grad[c] = static_cast<float>(sum_g);
    weight_.grad[c] = static_cast<float>(sum_gx * inverse_deviation_[c]);
    mean_gradient_[c] = static_cast<float>(sum_g * share);
    slope_[c] = static_cast<float>(sum_gx * share * inverse_deviation_[c] * inverse_deviation_[c]);
  }
  if (!inputs[0].needs_grad) return;
  if (g != nullptr) args.relu = false;  // already applied
  const float* dy = g != nullptr ? g : output->grad;
  pass.pool.parallel_for(n, 64, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = begin * channels_;
    simd::norm_backward(x + at, dy + at, in().grad + at, args, mean_gradient_.data(), slope_.data(),
                        end - begin, channels_);
  });
}

GpuBatchNorm BatchNorm::gpu_norm(const GpuPass& pass) const {
  const ChannelPair running = pass.state.running(running_);
  const ChannelPair latest = pass.state.latest(running_);
  const bool residual = has_residual();
  const bool tf32 = pass.products == Precision::TF32;
  return {.rows = pass.batch * output->shape.height * output->shape.width,
          .channels = channels_,
          .images = pass.batch,
          .training = pass.training,
          .relu = relu_,
          .eps = static_cast<float>(kEps),
          .momentum = static_cast<float>(kMomentum),
          .x = in().gpu_data(),
          .residual = residual ? in(1).gpu_data() : nullptr,
          .weight = pass.state.value(weight_),
          .bias = pass.state.value(bias_),
          .left_bias = left_bias_ == nullptr ? nullptr : pass.state.value(*left_bias_),
          .running_mean = running.first,
          .running_variance = running.second,
          .mean = latest.first,
          .inverse_deviation = latest.second,
          .y = output->gpu_data(),
          .dy = output->gpu_grad(),
          .dx = inputs[0].needs_grad ? in().gpu_grad() : nullptr,
          .dresidual = residual && inputs[1].needs_grad ? in(1).gpu_grad() : nullptr,
          .dweight = pass.state.grad(weight_),
          .dbias = pass.state.grad(bias_),
          .y_largest = tf32 ? output->largest : nullptr,
          .dx_largest = tf32 ? in().grad_largest : nullptr,
          .workspace = pass.workspace.data,
          .kept = gpu_kept};
}

std::int64_t BatchNorm::gpu_workspace_bytes(const GpuPass& pass) const {
  return pass.layers().workspace_bytes(gpu_norm(pass));
}

std::int64_t BatchNorm::gpu_kept_bytes(const GpuPass& pass) const {
  return relu_ && has_residual() ? pass.layers().kept_bytes(gpu_norm(pass)) : 0;
}

// The residual and the output are of one type.
bool BatchNorm::gpu_takes_bf16(const GpuPass& /*pass*/, const Value& value) const {
  if (channels_ % kBf16Width != 0) return false;
  if (&value == &in() || !has_residual()) return true;
  return in(1).dtype == output->dtype;
}

void BatchNorm::gpu_forward(const GpuPass& pass) {
  pass.layers().batch_norm_forward(gpu_norm(pass), pass.stream());
}

void BatchNorm::gpu_backward(const GpuPass& pass) {
  pass.layers().batch_norm_backward(gpu_norm(pass), pass.stream());
}

}  // namespace lab::nn
