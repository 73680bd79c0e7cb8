#pragma once
// 2-D convolution with square kernel, stride, zero padding and bias.
//   x [N,H,W,I]  weight [O,k,k,I]  bias [O]  y [N,OH,OW,O]   NHWC
// Work     2*N*OH*OW*O*k*k*I FLOP forward, twice that backward
// Limits   any sizes >= 1 whose output is not empty
// Numerics FP32 products of patches and weights; gradients of weights are summed over slices of the
//          batch in a fixed order that depends on the batch and the number of threads alone
#include "compute/cpu/im2col.h"
#include "compute/nn/op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

class Convolution final : public Op {
 public:
  // Without `add_bias` the operation behind it accounts for the bias; its gradient is computed here
  // all the same.
  Convolution(const simd::ConvShape& shape, const Parameter& weight, const Parameter& bias,
              bool add_bias = true)
      : shape_(shape), weight_(weight), bias_(bias), add_bias_(add_bias) {}

  const char* kind() const override { return "convolution"; }
  Keeps keeps() const override { return {.input = true}; }
  std::int64_t scratch_bytes(int threads, std::int64_t max_batch) const override;
  void forward(const Pass& pass) override;
  void backward(const Pass& pass) override;

 private:
  struct Memory;
  struct Share;
  std::int64_t tile_rows() const;
  Memory carve(Scratch scratch, int threads, std::int64_t* used = nullptr) const;
  void backward_images(const Pass& pass, const Slice& images, const Share& share) const;
  void add_weight_gradient(const Pass& pass, const Slice& rows, const Share& share,
                           bool first) const;
  void add_input_gradient(const Pass& pass, const Slice& rows, float* col) const;

  const simd::ConvShape shape_;
  const Parameter& weight_;
  const Parameter& bias_;
  const bool add_bias_;
};

}  // namespace lab::nn
