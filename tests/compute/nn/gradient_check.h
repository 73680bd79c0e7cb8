#pragma once
// Compares the logits, the loss and every gradient of a small network in the lab with float64.
#include <functional>
#include <map>
#include <string>

#include "compute/machine/machine.h"
#include "compute/nn/network.h"
#include "tests/support/reference_nn.h"

namespace lab::test {

using Weights = std::map<std::string, Doubles>;  // PyTorch's names and order
using ReferenceNet = std::function<Images(const Weights&, const Images&)>;

// The expected gradients are central differences of `reference`, which is evaluated twice for each
// weight, so the network should have few weights. Covers batches of `max_batch`, a smaller one and
// one image, on all of the machine's threads and on one.
void expect_matches_reference(const std::function<nn::NetworkPlan()>& plan,
                              const ReferenceNet& reference, std::int64_t max_batch = 5,
                              const nn::KernelOptions& kernels = {});

// Returns the network's parameters as float64, in PyTorch's order.
Weights weights_of(nn::Network& network);

}  // namespace lab::test
