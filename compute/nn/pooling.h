#pragma once
// Average pooling, and the step from images to PyTorch's flat order.
#include "compute/kernels/ops/average_pool.h"
#include "compute/nn/op.h"

namespace lab::nn {

// On blocks of images side by side. With `sigmoid`, that is applied to the input first, in place.
class AveragePoolLanes final : public LaneOp {
 public:
  AveragePoolLanes(const simd::PoolShape& shape, bool sigmoid) : shape_(shape), sigmoid_(sigmoid) {}
  void forward(float* x, float* y, Scratch mine) const override;
  void backward(const float* x, const float* dy, float* dx, Scratch mine) const override;

 private:
  simd::PoolShape shape_;
  bool sigmoid_;
};

// Vectors [height, width, channels] to [channels, height, width], as PyTorch's Flatten orders them.
class FlattenLanes final : public LaneOp {
 public:
  explicit FlattenLanes(const ImageShape& shape) : shape_(shape) {}
  void forward(float* x, float* y, Scratch mine) const override;
  void backward(const float* x, const float* dy, float* dx, Scratch mine) const override;

 private:
  const ImageShape shape_;
};

// With `sigmoid`, that is applied to the input first, in place: a few images at a time, so that
// both find them in the cache.
class AveragePool final : public Op {
 public:
  AveragePool(const simd::PoolShape& shape, bool sigmoid)
      : shape_(shape), sigmoid_(sigmoid), lanes_(shape, sigmoid) {}
  const char* kind() const override { return sigmoid_ ? "sigmoid_average_pool" : "average_pool"; }
  bool can_accumulate() const override { return !sigmoid_; }
  Keeps keeps() const override { return {.inputs = sigmoid_ ? std::size_t{1} : 0}; }
  const LaneOp* lanes() const override { return &lanes_; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;

 private:
  template <class Body>
  void for_blocks(const Pass& pass, const Body& body) const;

  const simd::PoolShape shape_;
  const bool sigmoid_;
  const AveragePoolLanes lanes_;
};

// [N,H,W,C] to [N,C*H*W] with the channel outermost, as PyTorch's Flatten orders an image.
class Flatten final : public Op {
 public:
  explicit Flatten(const ImageShape& from) : lanes_(from) {}
  const char* kind() const override { return "flatten"; }
  Keeps keeps() const override { return {}; }
  const LaneOp* lanes() const override { return &lanes_; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;

 private:
  const FlattenLanes lanes_;
};

}  // namespace lab::nn
