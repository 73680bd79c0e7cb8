#pragma once
// The chapters' networks for 28x28 grey images and ten classes, with PyTorch's names.
#include <string>
#include <string_view>
#include <vector>

#include "compute/nn/network_plan.h"

namespace lab::nn {

// "softmax", "mlp", "lenet", "resnet18".
const std::vector<std::string>& model_names();

// Throws Error(NotFound) naming the model and the choices.
NetworkPlan plan_model(std::string_view name);

// The chapters' learning rate for the model; throws as plan_model.
double default_learning_rate(std::string_view name);

}  // namespace lab::nn
