#pragma once
// A convolution on blocks of images side by side.
#include "compute/kernels/convolution/lane_convolution.h"
#include "compute/nn/lane_op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

class ConvolutionLanes final : public LaneOp {
 public:
  // The parameters must outlive it. Without `input_gradient` dx is never asked for.
  ConvolutionLanes(const simd::ConvShape& shape, const Parameter& weight, const Parameter& bias,
                   bool input_gradient)
      : shape_(shape), weight_(weight), bias_(bias), input_gradient_(input_gradient) {}

  std::int64_t bytes(Direction direction) const override { return carve({}, direction).bytes; }
  void begin(Direction direction, Scratch mine) const override;
  void forward(float* x, float* y, Scratch mine) const override;
  void backward(const float* x, const float* dy, float* dx, Scratch mine) const override;
  void end(Scratch mine) const override;
  void finish(Scratch first, std::int64_t stride_bytes, int threads) const override;

 private:
  struct Memory {
    float* plane = nullptr;        // the block's input, where it needs columns of zeros
    float* dy_plane = nullptr;     // the same of the output's gradient
    float* packed = nullptr;       // weights, turned in backward
    float* sums = nullptr;         // [weights, lanes]
    double* pixel_sums = nullptr;  // [out_c, lanes]
    float* weight_grad = nullptr;  // this thread's part
    std::int64_t bytes = 0;
  };
  Memory carve(Scratch mine, Direction direction) const;
  const float* plane(const float* x, const Memory& memory) const;

  const simd::ConvShape shape_;
  const Parameter& weight_;
  const Parameter& bias_;
  const bool input_gradient_;
};

}  // namespace lab::nn
