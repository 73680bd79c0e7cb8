#pragma once
// Convolution on blocks of interleaved images, by definition or by Winograd's F(5x2, 5x5).
#include <optional>

#include "compute/kernels/convolution/lane_convolution.h"
#include "compute/kernels/convolution/lane_winograd.h"
#include "compute/nn/op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

enum class LaneAlgorithm { Direct, Winograd };

// One algorithm per stage. Without one for the input's gradient, dx is always null.
struct LaneAlgorithms {
  LaneAlgorithm forward = LaneAlgorithm::Direct;
  std::optional<LaneAlgorithm> input_gradient = {};
  LaneAlgorithm weight_gradient = LaneAlgorithm::Direct;
};

class ConvolutionLanes final : public LaneOp {
 public:
  // The parameters must outlive it.
  ConvolutionLanes(const simd::ConvShape& shape, const Parameter& weight, const Parameter& bias,
                   const LaneAlgorithms& algorithms)
      : shape_(shape), weight_(weight), bias_(bias), algorithms_(algorithms), winograd_(shape) {}

  std::int64_t bytes(Direction direction) const override;
  std::int64_t sum_bytes() const override;
  void begin(Direction direction, Scratch scratch) const override;
  void begin_part(Scratch scratch) const override;
  void forward(float* x, float* y, Scratch scratch) const override;
  void backward(const float* x, const float* dy, float* dx, Scratch scratch) const override;
  void end_part(Scratch scratch, Scratch sums) const override;
  void finish(Scratch first, std::int64_t stride_bytes, std::int64_t parts) const override;

 private:
  // Arrays of algorithms that are not used are null.
  struct ForwardMemory {
    float* plane = nullptr;   // the block's input with zero columns; null if none are needed
    float* packed = nullptr;  // weights
    LaneWinograd::Forward winograd;
    std::int64_t bytes = 0;
  };
  struct BackwardMemory {
    float* plane = nullptr;     // as above
    float* dy_plane = nullptr;  // the same for the output's gradient
    float* packed = nullptr;    // weights, rotated by 180 degrees
    LaneWinograd::Backward winograd;
    float* sums = nullptr;         // [weight_sums(), lanes]
    double* pixel_sums = nullptr;  // [out_c, lanes]
    std::int64_t bytes = 0;
  };
  struct Sums {
    float* weight_grad = nullptr;
    double* bias_grad = nullptr;
  };
  ForwardMemory carve_forward(Scratch scratch) const;
  BackwardMemory carve_backward(Scratch scratch) const;
  float* take_plane(ScratchCursor& cursor) const;
  bool winograd_weights() const { return algorithms_.weight_gradient == LaneAlgorithm::Winograd; }
  // Values that the weights' gradient is computed from: the weights' or, for Winograd, their
  // points'.
  std::int64_t weight_sums() const;
  std::int64_t weight_sum_bytes() const;
  Sums sums_in(Scratch scratch) const;
  const float* plane(const float* x, float* memory) const;

  const simd::ConvShape shape_;
  const Parameter& weight_;
  const Parameter& bias_;
  const LaneAlgorithms algorithms_;
  const LaneWinograd winograd_;
};

}  // namespace lab::nn
