#include "compute/nn/activation.h"

#include "compute/cpu/relu.h"
#include "compute/cpu/sigmoid.h"

namespace lab::nn {
namespace {

constexpr std::int64_t kGrain = 16 * 1024;  // floats worth waking a thread for

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

void AddRelu::forward(const Pass& pass) {
  const float* a = in(0).data;
  const float* b = in(1).data;
  float* y = output->data;
  pass.pool.parallel_for(pass.batch * output->shape.size(), kGrain,
                         [&](std::int64_t begin, std::int64_t end) {
                           simd::add_relu(a + begin, b + begin, y + begin, end - begin);
                         });
}

void AddRelu::backward(const Pass& pass) {
  const Value& v = *output;
  float* da = in(0).grad;
  float* db = in(1).grad;
  pass.pool.parallel_for(pass.batch * v.shape.size(), kGrain,
                         [&](std::int64_t begin, std::int64_t end) {
                           simd::add_relu_backward(v.data + begin, v.grad + begin, da + begin,
                                                   db + begin, end - begin);
                         });
}

}  // namespace lab::nn
