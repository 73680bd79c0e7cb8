#pragma once
// The book's networks for 28x28 greyscale images and ten classes, and the lab's convnet, with
// PyTorch's parameter names.
#include <string>
#include <string_view>
#include <vector>

#include "compute/nn/network_plan.h"

namespace lab::nn {

// "softmax", "mlp", "lenet", "resnet18", "convnet".
const std::vector<std::string>& model_names();

// ResNet-18 with `first_channels` channels in its first block, whose number doubles in each further
// one; 64 in the model "resnet18".
NetworkPlan plan_resnet18(std::int64_t first_channels);

// Throws Error(NotFound) naming the model and the choices.
NetworkPlan plan_model(std::string_view name);

// The book's learning rate for the model; 0.1 for convnet. Throws like plan_model().
double default_learning_rate(std::string_view name);

}  // namespace lab::nn
