#pragma once
// Between our order of a parameter's elements and PyTorch's.
#include <span>

#include "compute/nn/parameter.h"

namespace lab::nn {

// `torch` holds parameter.size floats in the order of parameter.shape.
void from_torch(const Parameter& parameter, std::span<const float> torch, float* ours);
void to_torch(const Parameter& parameter, const float* ours, std::span<float> torch);

}  // namespace lab::nn
