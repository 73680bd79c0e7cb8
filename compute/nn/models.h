#pragma once
// The book's networks for 28x28 greyscale images and ten classes, and the lab's convnet, with
// PyTorch's parameter names.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/models.h"
#include "compute/nn/network_plan.h"

namespace lab::nn {

// "softmax", "mlp", "lenet", "resnet18", "convnet".
const std::vector<std::string>& model_names();

// `width` is the number of channels of resnet18's first block, which doubles in each further one.
// Throws Error(NotFound) naming the model and the choices, Error(InvalidArgument) where another
// model is given another width.
NetworkPlan plan_model(std::string_view name, std::int64_t width = kResNetWidth);

// The book's learning rate for the model; 0.1 for convnet. Throws like plan_model().
double default_learning_rate(std::string_view name);

}  // namespace lab::nn
