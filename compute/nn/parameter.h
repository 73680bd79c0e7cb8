#pragma once
// Parameters and running statistics of a network, under PyTorch's names.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/tensor/shape.h"

namespace lab::nn {

// Element order of a named tensor in the lab's memory. State dicts use PyTorch's order.
enum class Layout {
  AsIs,
  // PyTorch [out, in, ky, kx]; stored as [out, ky, kx, in], the order of an NHWC patch.
  ConvolutionNhwc,
};

// Distribution of the initial values; its parameter is `Init::scale`.
enum class Draw { Constant, Uniform, Normal };
struct Init {
  Draw draw = Draw::Constant;
  double scale = 0;  // constant, bound of U(-scale, scale), or deviation of N(0, scale)
};

struct Parameter {
  std::string name;
  Shape shape;  // in PyTorch's order
  Layout layout = Layout::AsIs;
  Init init;
  std::int64_t size = 0;
  float* value = nullptr;
  float* grad = nullptr;
};

// Running statistics of a batch norm: saved and loaded, but not learned.
struct RunningStatistics {
  std::string name;  // "1": owns 1.running_mean, 1.running_var, 1.num_batches_tracked
  std::size_t after_parameter = 0;  // follows this parameter in the state dict
  std::int64_t first_channel = 0;   // among those of all batch norms
  std::vector<float> mean, variance;
  std::int64_t batches = 0;
};

// Convert between the lab's element order and PyTorch's. `torch` holds parameter.size floats in the
// order of parameter.shape.
void from_torch(const Parameter& parameter, std::span<const float> torch, float* ours);
void to_torch(const Parameter& parameter, const float* ours, std::span<float> torch);

}  // namespace lab::nn
