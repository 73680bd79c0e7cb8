#pragma once
// A network with running statistics whose steps take milliseconds, on emulated GPUs too.
#include "compute/nn/models.h"

namespace lab::test {

inline nn::NetworkPlan tiny_plan() {
  nn::NetworkPlan plan("tiny", {1, 28, 28}, nn::WeightInit::FanInUniform);
  const auto convolution = plan.declare_convolution("0", 1, 3, 3);
  const auto norm = plan.declare_batch_norm("1", 3);
  const auto linear = plan.declare_linear("2", 3, 10);
  auto x = plan.average_pool(plan.input(), 7, 7);
  x = plan.convolution_norm(x, convolution, {.stride = 1, .padding = 1}, norm, /*relu=*/true);
  x = plan.flatten(plan.global_average_pool(x));
  plan.linear(x, linear);
  return plan;
}

}  // namespace lab::test
