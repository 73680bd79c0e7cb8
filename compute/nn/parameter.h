#pragma once
// What a network learns and what it remembers, under PyTorch's names.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/tensor/shape.h"

namespace lab::nn {

// How the elements of a named tensor lie in our memory. State dicts are in PyTorch's order.
enum class Layout {
  AsIs,
  // PyTorch [out, in, ky, kx]; here [out, ky, kx, in], the order of an NHWC patch.
  ConvolutionNhwc,
};

// Where the initial weights come from; the bound or deviation is in `Init::scale`.
enum class Draw { Constant, Uniform, Normal };
struct Init {
  Draw draw = Draw::Constant;
  double scale = 0;  // the constant, the bound of U(-scale, scale), the deviation of N(0, scale)
};

struct Parameter {
  std::string name;
  Shape shape;  // PyTorch's
  Layout layout = Layout::AsIs;
  Init init;
  std::int64_t size = 0;
  float* value = nullptr;
  float* grad = nullptr;
};

// Batch norm's memory: saved and loaded, not learned.
struct RunningStatistics {
  std::string name;  // "1": owns 1.running_mean, 1.running_var, 1.num_batches_tracked
  std::size_t after_parameter = 0;  // stands behind this parameter in the state dict
  std::vector<float> mean, variance;
  std::int64_t batches = 0;
};

// Between the lab's order of a parameter's elements and PyTorch's: `torch` holds parameter.size
// floats in the order of parameter.shape.
void from_torch(const Parameter& parameter, std::span<const float> torch, float* ours);
void to_torch(const Parameter& parameter, const float* ours, std::span<float> torch);

}  // namespace lab::nn
