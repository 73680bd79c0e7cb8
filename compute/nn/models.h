#pragma once
// The book's networks for 28x28 greyscale images and ten classes, with PyTorch's parameter names.
#include <string>
#include <string_view>
#include <vector>

#include "compute/nn/network_plan.h"

namespace lab::nn {

// "softmax", "mlp", "lenet", "resnet18".
const std::vector<std::string>& model_names();

// Throws Error(NotFound) naming the model and the choices.
NetworkPlan plan_model(std::string_view name);

// The book's learning rate for the model. Throws like plan_model().
double default_learning_rate(std::string_view name);

}  // namespace lab::nn
