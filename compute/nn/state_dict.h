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

void save_network(Network& network, const std::filesystem::path& path);
void load_network(Network& network, const std::filesystem::path& path);

}  // namespace lab::nn
