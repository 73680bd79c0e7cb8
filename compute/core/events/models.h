#pragma once
// Trainable networks and their default hyperparameters, from Dive into Deep Learning; convnet is
// the lab's own. compute/nn/models.cpp defines their layers.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "compute/core/fields/enum_names.h"

namespace lab {

// Channels of the first block of the book's ResNet-18.
inline constexpr std::int64_t kResNetWidth = 64;

struct ModelFacts {
  const char* name;
  const char* title;  // in the window
  double learning_rate;
  // Steps of 256 images after which test accuracies are comparable. The sigmoids of lenet learn
  // nothing during the first two epochs; a step of resnet18 is slow.
  std::int64_t accuracy_steps;
  // Operations of a forward pass in PyTorch, each of which is launched on its own.
  int operations;
  bool begins_with_convolution = true;
};

inline constexpr std::array<ModelFacts, 5> kModelFacts = {
    {{"softmax", "Softmax", 0.1, 235, 2, false},
     {"mlp", "MLP", 0.1, 235, 4, false},
     {"lenet", "LeNet", 0.9, 940, 12},
     {"resnet18", "ResNet-18", 0.1, 60, 65},
     {"convnet", "ConvNet", 0.1, 235, 13}}};

inline constexpr auto kModelNames = std::apply(
    [](const auto&... facts) {
      return std::array{ValueName{facts.name, facts.title}...};
    },
    kModelFacts);

// Returns null if there is no model of this name.
constexpr const ModelFacts* find_model(std::string_view name) {
  for (const ModelFacts& model : kModelFacts) {
    if (name == model.name) return &model;
  }
  return nullptr;
}

// "LeNet"; the name itself if there is no model of this name.
constexpr std::string_view model_title(std::string_view name) {
  const ModelFacts* model = find_model(name);
  return model == nullptr ? name : model->title;
}

}  // namespace lab
