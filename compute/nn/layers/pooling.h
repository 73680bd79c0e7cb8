#pragma once
// Average pooling, and flattening to PyTorch's order.
#include "compute/kernels/ops/average_pool.h"
#include "compute/nn/op.h"

namespace lab::nn {

// Average pooling on blocks of interleaved images. With `sigmoid`, first applies a sigmoid to the
// input in place.
class AveragePoolLanes final : public LaneOp {
 public:
  AveragePoolLanes(const simd::PoolShape& shape, bool sigmoid) : shape_(shape), sigmoid_(sigmoid) {}
  void forward(float* x, float* y, Scratch scratch) const override;
  void backward(const float* x, const float* dy, float* dx, Scratch scratch) const override;

 private:
  simd::PoolShape shape_;
  bool sigmoid_;
};

// Reorders vectors [height, width, channels] to [channels, height, width], as PyTorch's Flatten
// does.
class FlattenLanes final : public LaneOp {
 public:
  explicit FlattenLanes(const ImageShape& shape) : shape_(shape) {}
  void forward(float* x, float* y, Scratch scratch) const override;
  void backward(const float* x, const float* dy, float* dx, Scratch scratch) const override;

 private:
  const ImageShape shape_;
};

// With `sigmoid`, first applies a sigmoid to the input in place, a few images at a time so that
// they are still in cache when they are pooled.
class AveragePool final : public Op {
 public:
  AveragePool(const simd::PoolShape& shape, bool sigmoid)
      : shape_(shape), sigmoid_(sigmoid), lanes_(shape, sigmoid) {}
  const char* kind() const override { return sigmoid_ ? "sigmoid_average_pool" : "average_pool"; }
  bool can_accumulate() const override { return !sigmoid_; }
  SavedValues saved_values() const override { return {.inputs = sigmoid_ ? std::size_t{1} : 0}; }
  bool changes_input() const override { return sigmoid_; }
  const LaneOp* lanes() const override { return &lanes_; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  bool gpu_takes_bf16(const GpuPass& /*pass*/, const Value& value) const override {
    return !sigmoid_ && &value != output;
  }
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;

 private:
  GpuAveragePool gpu_pool(const GpuPass& pass) const;
  template <class Body>
  void for_blocks(const Pass& pass, const Body& body) const;

  const simd::PoolShape shape_;
  const bool sigmoid_;
  const AveragePoolLanes lanes_;
};

// Reorders [N,H,W,C] to [N,C*H*W], channel outermost, as PyTorch's Flatten does.
class Flatten final : public Op {
 public:
  explicit Flatten(const ImageShape& from) : lanes_(from) {}
  const char* kind() const override { return "flatten"; }
  SavedValues saved_values() const override { return {}; }
  const LaneOp* lanes() const override { return &lanes_; }
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;
  void gpu_forward(const GpuPass& pass) override;
  void gpu_backward(const GpuPass& pass) override;

 private:
  const FlattenLanes lanes_;
};

}  // namespace lab::nn
