#include "compute/nn/layers/activation.h"

#include "compute/kernels/ops/activations.h"
#include "compute/nn/gpu_state.h"

namespace lab::nn {
namespace {

constexpr std::int64_t kGrain = 16 * 1024;  // fewest floats worth waking a thread for

}  // namespace

void Relu::forward(const Pass& pass) {
  float* x = output->data;
  pass.pool.parallel_for(
      pass.batch * output->shape.size(), kGrain,
      [&](std::int64_t begin, std::int64_t end) { simd::relu(x + begin, end - begin); });
}

void Relu::backward(const Pass& pass) {
  const Value& v = *output;
  pass.pool.parallel_for(pass.batch * v.shape.size(), kGrain,
                         [&](std::int64_t begin, std::int64_t end) {
                           simd::relu_backward(v.data + begin, v.grad + begin, end - begin);
                         });
}

void Sigmoid::forward(const Pass& pass) {
  float* x = output->data;
  pass.pool.parallel_for(
      pass.batch * output->shape.size(), kGrain,
      [&](std::int64_t begin, std::int64_t end) { simd::sigmoid(x + begin, end - begin); });
}

void Sigmoid::backward(const Pass& pass) {
  const Value& v = *output;
  pass.pool.parallel_for(pass.batch * v.shape.size(), kGrain,
                         [&](std::int64_t begin, std::int64_t end) {
                           simd::sigmoid_backward(v.data + begin, v.grad + begin, end - begin);
                         });
}

namespace {

GpuActivate activate(GpuActivation kind, const Value& v, const GpuPass& pass) {
  return {.kind = kind, .count = pass.batch * v.shape.size(), .x = v.data, .dx = v.grad};
}

}  // namespace

void Relu::gpu_forward(const GpuPass& pass) {
  pass.layers().activation_forward(activate(GpuActivation::Relu, *output, pass), pass.stream());
}

void Relu::gpu_backward(const GpuPass& pass) {
  pass.layers().activation_backward(activate(GpuActivation::Relu, *output, pass), pass.stream());
}

void Sigmoid::gpu_forward(const GpuPass& pass) {
  pass.layers().activation_forward(activate(GpuActivation::Sigmoid, *output, pass), pass.stream());
}

void Sigmoid::gpu_backward(const GpuPass& pass) {
  pass.layers().activation_backward(activate(GpuActivation::Sigmoid, *output, pass), pass.stream());
}

}  // namespace lab::nn
