#pragma once
// Pooling and flattening of blocks of images side by side.
#include "compute/kernels/ops/average_pool.h"
#include "compute/nn/lane_op.h"
#include "compute/nn/value.h"

namespace lab::nn {

// With `sigmoid`, that is applied to the input first, in place.
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

}  // namespace lab::nn
