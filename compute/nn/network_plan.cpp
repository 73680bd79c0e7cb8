#include "compute/nn/network_plan.h"

#include <cmath>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/nn/layers/activation.h"
#include "compute/nn/layers/convolution.h"
#include "compute/nn/layers/linear.h"
#include "compute/nn/layers/normalization.h"
#include "compute/nn/layers/pooling.h"

namespace lab::nn {
namespace {

[[noreturn]] void mismatch(const Parameter& weight, const ImageShape& x) {
  throw Error(Errc::InvalidArgument,
              trf("{} {} does not fit an input of {} channels of {}x{}", weight.name,
                  to_string(weight.shape), x.channels, x.height, x.width));
}

}  // namespace

NetworkPlan::NetworkPlan(std::string model_name, ImageShape input, WeightInit init)
    : name(std::move(model_name)), weight_init(init) {
  values.push_back({.shape = input});
}

std::vector<std::int64_t> NetworkPlan::parameter_offsets() const {
  constexpr std::int64_t kAlignFloats = 16;
  std::vector<std::int64_t> begins = {0};
  for (const Parameter& p : parameters) {
    const std::int64_t padded = (p.size + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
    begins.push_back(begins.back() + padded);
  }
  return begins;
}

std::size_t NetworkPlan::declare(std::string parameter, Shape shape, Layout layout, Init init) {
  const std::int64_t size = count(shape);
  parameters.push_back({.name = std::move(parameter),
                        .shape = std::move(shape),
                        .layout = layout,
                        .init = init,
                        .size = size});
  return parameters.size() - 1;
}

Init NetworkPlan::weight_draw(double fan_in, double fan_out) const {
  switch (weight_init) {
    case WeightInit::Normal001: return {Draw::Normal, 0.01};
    case WeightInit::XavierUniform: return {Draw::Uniform, std::sqrt(6.0 / (fan_in + fan_out))};
    case WeightInit::FanInUniform: break;
  }
  return {Draw::Uniform, 1.0 / std::sqrt(fan_in)};
}

NetworkPlan::Weights NetworkPlan::declare_convolution(const std::string& layer, std::int64_t in,
                                                      std::int64_t out, std::int64_t kernel) {
  const double window = static_cast<double>(kernel * kernel);
  const double fan_in = static_cast<double>(in) * window;
  const Init weights = weight_draw(fan_in, static_cast<double>(out) * window);
  Weights w;
  w.weight =
      declare(layer + ".weight", {out, in, kernel, kernel}, Layout::ConvolutionNhwc, weights);
  w.bias = declare(layer + ".bias", {out}, Layout::AsIs, {Draw::Uniform, 1 / std::sqrt(fan_in)});
  return w;
}

NetworkPlan::Weights NetworkPlan::declare_linear(const std::string& layer, std::int64_t in,
                                                 std::int64_t out) {
  const double fan_in = static_cast<double>(in);
  const Init weights = weight_draw(fan_in, static_cast<double>(out));
  Weights w;
  w.weight = declare(layer + ".weight", {out, in}, Layout::AsIs, weights);
  w.bias = declare(layer + ".bias", {out}, Layout::AsIs, {Draw::Uniform, 1 / std::sqrt(fan_in)});
  return w;
}

NetworkPlan::Norm NetworkPlan::declare_batch_norm(const std::string& layer, std::int64_t channels) {
  Norm norm;
  norm.weights.weight = declare(layer + ".weight", {channels}, Layout::AsIs, {Draw::Constant, 1});
  norm.weights.bias = declare(layer + ".bias", {channels}, Layout::AsIs, {Draw::Constant, 0});
  const auto n = static_cast<std::size_t>(channels);
  const std::int64_t first =
      running.empty() ? 0 : running.back().first_channel + std::ssize(running.back().mean);
  running.push_back({.name = layer,
                     .after_parameter = norm.weights.bias,
                     .first_channel = first,
                     .mean = std::vector<float>(n, 0.0F),
                     .variance = std::vector<float>(n, 1.0F)});
  norm.running = running.size() - 1;
  return norm;
}

NetworkPlan::ValueId NetworkPlan::add(std::unique_ptr<Op> op, std::vector<ValueId> inputs,
                                      ImageShape shape) {
  values.push_back({.shape = shape});
  op->output = &values.back();
  for (const ValueId id : inputs) {
    op->inputs.push_back({.value = &values[id], .needs_grad = id != input()});
  }
  ops.push_back(std::move(op));
  return values.size() - 1;
}

NetworkPlan::ValueId NetworkPlan::add_in_place(std::unique_ptr<Op> op, ValueId x) {
  if (x == input()) {
    throw Error(Errc::InvalidArgument,
                trf("{}: an in-place operation cannot come first", op->kind()));
  }
  op->output = &values[x];
  op->inputs.push_back({.value = &values[x]});
  ops.push_back(std::move(op));
  return x;
}

NetworkPlan::ValueId NetworkPlan::add_convolution(ValueId x, Weights weights, Step step,
                                                  bool add_bias) {
  const Parameter& weight = parameters[weights.weight];
  const ImageShape from = shape_of(x);
  const simd::ConvShape s =
      simd::conv_shape(from.height, from.width, from.channels, weight.shape[0], weight.shape[2],
                       step.stride, step.padding);
  const bool covers =
      from.height + 2 * step.padding >= s.kernel && from.width + 2 * step.padding >= s.kernel;
  if (weight.shape[1] != from.channels || !covers) mismatch(weight, from);
  auto op = std::make_unique<Convolution>(s, weight, parameters[weights.bias], add_bias);
  op->parameters = {weights.weight, weights.bias};
  return add(std::move(op), {x}, {s.out_c, s.out_h, s.out_w});
}

NetworkPlan::ValueId NetworkPlan::add_norm(std::vector<ValueId> inputs, const Norm& norm, bool relu,
                                           const Parameter* left_bias) {
  const Parameter& weight = parameters[norm.weights.weight];
  const ImageShape shape = shape_of(inputs.front());
  for (const ValueId id : inputs) {
    if (weight.size != shape_of(id).channels || shape_of(id) != shape) {
      mismatch(weight, shape_of(id));
    }
  }
  auto op = std::make_unique<BatchNorm>(weight.size, weight, parameters[norm.weights.bias],
                                        running[norm.running], relu, left_bias);
  op->parameters = {norm.weights.weight, norm.weights.bias};
  return add(std::move(op), std::move(inputs), shape);
}

NetworkPlan::ValueId NetworkPlan::convolution(ValueId x, Weights weights, Step step) {
  return add_convolution(x, weights, step, /*add_bias=*/true);
}

NetworkPlan::ValueId NetworkPlan::batch_norm(ValueId x, const Norm& norm, bool relu) {
  return add_norm({x}, norm, relu, nullptr);
}

NetworkPlan::ValueId NetworkPlan::convolution_norm(ValueId x, Weights weights, Step step,
                                                   const Norm& norm, bool relu) {
  const ValueId y = add_convolution(x, weights, step, /*add_bias=*/false);
  return add_norm({y}, norm, relu, &parameters[weights.bias]);
}

NetworkPlan::ValueId NetworkPlan::convolution_norm_residual(ValueId x, Weights weights, Step step,
                                                            const Norm& norm, ValueId residual) {
  const ValueId y = add_convolution(x, weights, step, /*add_bias=*/false);
  return add_norm({y, residual}, norm, /*relu=*/true, &parameters[weights.bias]);
}

NetworkPlan::ValueId NetworkPlan::linear(ValueId x, Weights weights) {
  const Parameter& weight = parameters[weights.weight];
  if (weight.shape[1] != shape_of(x).size()) mismatch(weight, shape_of(x));
  auto op =
      std::make_unique<Linear>(weight.shape[1], weight.shape[0], weight, parameters[weights.bias]);
  op->parameters = {weights.weight, weights.bias};
  return add(std::move(op), {x}, {weight.shape[0], 1, 1});
}

NetworkPlan::ValueId NetworkPlan::relu(ValueId x) {
  return add_in_place(std::make_unique<Relu>(), x);
}

NetworkPlan::ValueId NetworkPlan::sigmoid(ValueId x) {
  return add_in_place(std::make_unique<Sigmoid>(), x);
}

NetworkPlan::ValueId NetworkPlan::add_pool(ValueId x, std::int64_t kernel, std::int64_t stride,
                                           bool sigmoid) {
  const ImageShape from = shape_of(x);
  const simd::PoolShape s{from.height, from.width, from.channels, kernel, kernel, stride};
  if (from.height < kernel || from.width < kernel) {
    throw Error(Errc::InvalidArgument,
                trf("average_pool: a window of {0}x{0} is larger than the image of {1}x{2}", kernel,
                    from.height, from.width));
  }
  return add(std::make_unique<AveragePool>(s, sigmoid), {x}, {from.channels, s.out_h(), s.out_w()});
}

NetworkPlan::ValueId NetworkPlan::average_pool(ValueId x, std::int64_t kernel,
                                               std::int64_t stride) {
  return add_pool(x, kernel, stride, /*sigmoid=*/false);
}

NetworkPlan::ValueId NetworkPlan::sigmoid_average_pool(ValueId x, std::int64_t kernel,
                                                       std::int64_t stride) {
  if (x == input()) {
    throw Error(Errc::InvalidArgument,
                tr("sigmoid_average_pool: an in-place operation cannot come first"));
  }
  return add_pool(x, kernel, stride, /*sigmoid=*/true);
}

NetworkPlan::ValueId NetworkPlan::global_average_pool(ValueId x) {
  const ImageShape from = shape_of(x);
  const simd::PoolShape s{from.height, from.width, from.channels, from.height, from.width, 1};
  return add(std::make_unique<AveragePool>(s, /*sigmoid=*/false), {x}, {from.channels, 1, 1});
}

NetworkPlan::ValueId NetworkPlan::flatten(ValueId x) {
  const ImageShape from = shape_of(x);
  if (from.channels == 1 || from.height * from.width == 1) return x;  // already in PyTorch's order
  return add(std::make_unique<Flatten>(from), {x}, {from.size(), 1, 1});
}

}  // namespace lab::nn
