#pragma once
// A network's parameters and running statistics as named tensors, as PyTorch's state_dict() has
// them.
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

// Checks every tensor, then copies: on an error the network is as it was. Throws Error(Corrupt)
// listing missing and unexpected names, or naming the tensor with both shapes or dtypes, or the
// first value that is not finite. `source` begins the message: the file's name.
void load_state_dict(Network& network, std::span<const TensorView> tensors,
                     const std::string& source);

// The optimizer's velocity in PyTorch's layout, each tensor under its parameter's name; empty
// without momentum and before the first step.
std::vector<StateTensor> optimizer_state(Network& network, Sgd& sgd);

// As load_state_dict. `sgd` must have momentum; it goes on as after a step.
void load_optimizer_state(Network& network, Sgd& sgd, std::span<const TensorView> tensors,
                          const std::string& source);

// The same checks, and nothing is loaded.
void check_optimizer_state(Network& network, Sgd& sgd, std::span<const TensorView> tensors,
                           const std::string& source);

// "net.0.bias holds NaN" for the first value of parameters, running statistics and momentum that is
// not finite, with which nothing could go on; empty where there is none.
std::string fault_in_state(Network& network, Sgd& sgd);

// A safetensors file's bytes.
std::vector<std::byte> format_state(std::span<const StateTensor> tensors);

void save_network(Network& network, const std::filesystem::path& path);
void load_network(Network& network, const std::filesystem::path& path);

}  // namespace lab::nn
