#include "compute/nn/layers/convolution.h"

#include <algorithm>

#include "compute/kernels/ops/row_ops.h"
#include "compute/nn/gpu_state.h"

namespace lab::nn {

Convolution::Convolution(const simd::ConvShape& shape, const Parameter& weight,
                         const Parameter& bias, bool add_bias)
    : shape_(shape), weight_(weight), bias_(bias), add_bias_(add_bias) {
  const ConvolutionAlgorithm* any = &gemm_convolution();
  lab_ = {any, any, any};
  any = &library_convolution();
  library_ = {any, any, any};
}

void Convolution::prepare(const Preparation& preparation) {
  ConvolutionCase c{.shape = shape_,
                    .batch = preparation.max_batch,
                    .threads = preparation.pool.size(),
                    .products = preparation.products};
  const auto choose = [&](ConvolutionStage stage) {
    c.stage = stage;
    return &preparation.chooser.choose(c, preparation.pool);
  };
  products_ = preparation.products;
  for_library_ = preparation.library;
  lab_.forward = choose(ConvolutionStage::Forward);
  lab_.weight_gradient = choose(ConvolutionStage::WeightGradient);
  if (inputs[0].needs_grad) lab_.input_gradient = choose(ConvolutionStage::InputGradient);
  const auto on_lanes = [](const ConvolutionAlgorithm* algorithm) {
    return algorithm == &direct_convolution() || algorithm == &lane_winograd_convolution();
  };
  lanes_.reset();
  if (!add_bias_ || !on_lanes(lab_.forward) || !on_lanes(lab_.weight_gradient)) return;
  if (inputs[0].needs_grad && !on_lanes(lab_.input_gradient)) return;
  const auto uses = [](const ConvolutionAlgorithm* algorithm) {
    return algorithm == &direct_convolution() ? LaneAlgorithm::Direct : LaneAlgorithm::Winograd;
  };
  LaneAlgorithms stages{.forward = uses(lab_.forward),
                        .weight_gradient = uses(lab_.weight_gradient)};
  if (inputs[0].needs_grad) stages.input_gradient = uses(lab_.input_gradient);
  lanes_.emplace(shape_, weight_, bias_, stages);
}

std::int64_t Convolution::scratch_bytes(int threads, std::int64_t max_batch) const {
  ConvolutionCase c{.shape = shape_, .batch = max_batch, .threads = threads, .products = products_};
  std::int64_t most = 0;
  const auto ask = [&](ConvolutionStage stage, const ConvolutionAlgorithm* algorithm) {
    c.stage = stage;
    most = std::max(most, algorithm->scratch_bytes(c));
  };
  for (const Algorithms* a : {&lab_, &library_}) {
    if (a == &library_ && !for_library_) continue;
    ask(ConvolutionStage::Forward, a->forward);
    if (inputs[0].needs_grad) ask(ConvolutionStage::InputGradient, a->input_gradient);
    ask(ConvolutionStage::WeightGradient, a->weight_gradient);
  }
  ScratchCursor bias({});
  bias.take<double>(shape_.out_c * bias_parts(max_batch));
  return std::max(most, bias.used_bytes());
}

std::int64_t Convolution::bias_parts(std::int64_t batch) const {
  constexpr std::int64_t kFewestRows = 256;
  return sum_parts(batch * shape_.out_pixels(), kFewestRows);
}

const Convolution::Algorithms& Convolution::algorithms(Kernels kernels) const {
  return kernels == Kernels::Library ? library_ : lab_;
}

std::int64_t Convolution::flop(Direction direction, std::int64_t batch) const {
  const bool both = direction == Direction::Backward && inputs[0].needs_grad;
  return (both ? 4 : 2) * batch * shape_.out_pixels() * shape_.out_c * shape_.patch();
}

std::string Convolution::method(Direction direction, Kernels kernels) const {
  const Algorithms& use = algorithms(kernels);
  if (direction == Direction::Forward) return use.forward->name();
  std::string weights = use.weight_gradient->name();
  if (!inputs[0].needs_grad || use.input_gradient->name() == weights) return weights;
  return use.input_gradient->name() + ("/" + weights);
}

namespace {

ConvolutionContext context_of(const Pass& pass) {
  return {.pool = pass.pool,
          .batch = pass.batch,
          .scratch = pass.scratch,
          .stop = pass.stop,
          .products = pass.products};
}

}  // namespace

void Convolution::forward(const Pass& pass) {
  algorithms(pass.kernels)
      .forward->forward(shape_, context_of(pass), in().data, weight_.value,
                        add_bias_ ? bias_.value : nullptr, output->data);
}

void Convolution::backward(const Pass& pass) {
  const Algorithms& use = algorithms(pass.kernels);
  const ConvolutionContext context = context_of(pass);
  use.weight_gradient->weight_gradient(shape_, context, in().saved, output->grad, weight_.grad);
  if (add_bias_) {
    bias_gradient(pass);
  } else {
    std::fill(bias_.grad, bias_.grad + shape_.out_c, 0.0F);
  }
  if (!inputs[0].needs_grad || pass.stop.stop_requested()) return;
  use.input_gradient->input_gradient(shape_, context, output->grad, weight_.value, in().grad,
                                     inputs[0].accumulate);
}

void Convolution::bias_gradient(const Pass& pass) const {
  const std::int64_t parts = bias_parts(pass.batch);
  ScratchCursor cursor(pass.scratch);
  double* sums = cursor.take<double>(shape_.out_c * parts);
  pass.pool.run_parts(parts, [&](std::int64_t part, int /*thread*/) {
    double* of_part = sums + part * shape_.out_c;
    std::fill(of_part, of_part + shape_.out_c, 0.0);
    const Slice rows = slice_of(pass.batch * shape_.out_pixels(), parts, part);
    simd::column_sums(output->grad + rows.begin * shape_.out_c, rows.end - rows.begin, shape_.out_c,
                      of_part);
  });
  for (std::int64_t c = 0; c < shape_.out_c; ++c) {
    double sum = 0;
    for (std::int64_t p = 0; p < parts; ++p) sum += sums[p * shape_.out_c + c];
    bias_.grad[c] = static_cast<float>(sum);
  }
}

GpuConvolution Convolution::gpu_convolution(const GpuPass& pass) const {
  return {.images = pass.batch,
          .in_h = shape_.in_h,
          .in_w = shape_.in_w,
          .in_c = shape_.in_c,
          .out_h = shape_.out_h,
          .out_w = shape_.out_w,
          .out_c = shape_.out_c,
          .kernel = shape_.kernel,
          .stride = shape_.stride,
          .padding = shape_.padding,
          .precision = pass.products,
          .x = in().gpu_data(),
          .weight = pass.state.value(weight_),
          .bf16_weight = pass.state.bf16_value(weight_),
          .bias = add_bias_ ? pass.state.value(bias_) : nullptr,
          .y = output->gpu_data(),
          .x_largest = in().largest,
          .dy_largest = output->grad_largest,
          .dy = output->gpu_grad(),
          .dx = in().gpu_grad(),
          .accumulate = inputs[0].accumulate,
          .dweight = pass.state.grad(weight_),
          .dbias = add_bias_ ? pass.state.grad(bias_) : nullptr,  // otherwise stays zero
          .workspace = pass.workspace.data,
          .workspace_bytes = pass.workspace.bytes,
          .kept = gpu_kept};
}

std::int64_t Convolution::gpu_workspace_bytes(const GpuPass& pass) const {
  return pass.layers().workspace_bytes(gpu_convolution(pass));
}

std::int64_t Convolution::gpu_kept_bytes(const GpuPass& pass) const {
  return pass.layers().kept_bytes(gpu_convolution(pass));
}

bool Convolution::gpu_takes_bf16(const GpuPass& pass, const Value& /*value*/) const {
  return pass.layers().takes_bf16(gpu_convolution(pass));
}

void Convolution::gpu_forward(const GpuPass& pass) {
  pass.layers().convolution_forward(gpu_convolution(pass), pass.stream());
}

void Convolution::gpu_backward(const GpuPass& pass) {
  queue_gradients(pass, gpu_convolution(pass), inputs[0].needs_grad);
}

}  // namespace lab::nn
