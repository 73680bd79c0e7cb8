#pragma once
// Average pooling, and the step from images to PyTorch's flat order.
#include "compute/cpu/average_pool.h"
#include "compute/nn/op.h"

namespace lab::nn {

class AveragePool final : public Op {
 public:
  explicit AveragePool(const simd::PoolShape& shape) : shape_(shape) {}
  const char* kind() const override { return "average_pool"; }
  Keeps keeps() const override { return {}; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;

 private:
  const simd::PoolShape shape_;
};

// [N,H,W,C] to [N,C*H*W] with the channel outermost, as PyTorch's Flatten orders an image.
class Flatten final : public Op {
 public:
  const char* kind() const override { return "flatten"; }
  Keeps keeps() const override { return {}; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
};

}  // namespace lab::nn
