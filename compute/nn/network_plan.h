#pragma once
// Description of a network: its operations and parameters, before any memory is allocated.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "compute/nn/op.h"
#include "compute/nn/parameter.h"

namespace lab::nn {

// Initial weights. Biases always start from U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
enum class WeightInit {
  Normal001,      // N(0, 0.01)
  XavierUniform,  // U(-a, a), a = sqrt(6 / (fan_in + fan_out))
  FanInUniform,   // U(-a, a), a = 1/sqrt(fan_in): the default of PyTorch's layers
};

// Parameters are declared in the order of PyTorch's state dict; operations are added in the order
// of execution. The two orders differ inside a residual block.
class NetworkPlan {
 public:
  using ValueId = std::size_t;
  struct Weights {
    std::size_t weight = 0, bias = 0;
  };
  struct Norm {
    Weights weights;
    std::size_t running = 0;
  };
  struct Step {  // of a convolution
    std::int64_t stride = 1, padding = 0;
  };

  NetworkPlan(std::string model_name, ImageShape input, WeightInit init);

  Weights declare_convolution(const std::string& layer, std::int64_t in, std::int64_t out,
                              std::int64_t kernel);
  Weights declare_linear(const std::string& layer, std::int64_t in, std::int64_t out);
  Norm declare_batch_norm(const std::string& layer, std::int64_t channels);

  // Each throws Error(InvalidArgument) naming the layer if the shapes do not fit.
  ValueId input() const { return 0; }
  ValueId convolution(ValueId x, Weights weights, Step step);
  ValueId batch_norm(ValueId x, const Norm& norm, bool relu);
  // convolution() followed by batch_norm(), without adding the bias, which normalisation cancels.
  ValueId convolution_norm(ValueId x, Weights weights, Step step, const Norm& norm, bool relu);
  // relu(batch_norm(convolution(x)) + residual): the end of a residual block.
  ValueId convolution_norm_residual(ValueId x, Weights weights, Step step, const Norm& norm,
                                    ValueId residual);
  ValueId linear(ValueId x, Weights weights);
  ValueId relu(ValueId x);
  ValueId sigmoid(ValueId x);
  ValueId average_pool(ValueId x, std::int64_t kernel, std::int64_t stride);
  // sigmoid() followed by average_pool(). No other operation may read x.
  ValueId sigmoid_average_pool(ValueId x, std::int64_t kernel, std::int64_t stride);
  ValueId global_average_pool(ValueId x);
  ValueId flatten(ValueId x);

  const ImageShape& shape_of(ValueId id) const { return values[id].shape; }

  // Start of each parameter in the flat array of all parameters, in floats, followed by the array's
  // length. Each parameter is aligned to 64 bytes.
  std::vector<std::int64_t> parameter_offsets() const;

  // Operations point to these elements, whose addresses stay valid when the plan is moved.
  std::string name;
  WeightInit weight_init;
  std::deque<Value> values;  // the first is the input; the last operation's output is the logits
  std::deque<Parameter> parameters;
  std::deque<RunningStatistics> running;
  std::vector<std::unique_ptr<Op>> ops;

 private:
  std::size_t declare(std::string parameter, Shape shape, Layout layout, Init init);
  Init weight_draw(double fan_in, double fan_out) const;
  ValueId add_convolution(ValueId x, Weights weights, Step step, bool add_bias);
  ValueId add_norm(std::vector<ValueId> inputs, const Norm& norm, bool relu,
                   const Parameter* left_bias);
  ValueId add(std::unique_ptr<Op> op, std::vector<ValueId> inputs, ImageShape shape);
  ValueId add_pool(ValueId x, std::int64_t kernel, std::int64_t stride, bool sigmoid);
  ValueId add_in_place(std::unique_ptr<Op> op, ValueId x);
};

}  // namespace lab::nn
