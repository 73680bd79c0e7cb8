#pragma once
// A network's parameters and running statistics as named tensors, like PyTorch's state_dict().
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "compute/nn/network.h"
#include "compute/nn/safetensors.h"
#include "compute/nn/sgd.h"

namespace lab::nn {

struct StateTensor {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<std::byte> data;
};

// Copies, in PyTorch's order and layout.
std::vector<StateTensor> state_dict(Network& network);

// Checks every tensor before it copies any: on an error the network is unchanged. Throws
// Error(Corrupt) listing missing and unexpected names, or naming the tensor with both shapes or
// dtypes, or the first non-finite value. Messages begin with `source`, the file's name.
void load_state_dict(Network& network, std::span<const TensorView> tensors,
                     const std::string& source);

// The optimizer's velocity in PyTorch's layout, each tensor under its parameter's name. Empty
// without momentum and before the first step.
std::vector<StateTensor> optimizer_state(Network& network, Sgd& sgd);

// Checks and throws like load_state_dict(). `sgd` must have momentum; it continues as if stepped.
void load_optimizer_state(Network& network, Sgd& sgd, std::span<const TensorView> tensors,
                          const std::string& source);

// Makes the same checks without loading anything.
void check_optimizer_state(Network& network, Sgd& sgd, std::span<const TensorView> tensors,
                           const std::string& source);

// Returns "net.0.bias contains NaN" for the first non-finite value of the parameters, running
// statistics and momentum, from which training cannot continue; empty if all are finite.
std::string find_non_finite_state(Network& network, Sgd& sgd);

// Returns the bytes of a safetensors file.
std::vector<std::byte> format_state(std::span<const StateTensor> tensors);

void save_network(Network& network, const std::filesystem::path& path);
void load_network(Network& network, const std::filesystem::path& path);

}  // namespace lab::nn
