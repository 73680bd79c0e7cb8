#pragma once
// Runs a small network in the lab and in float64 and compares logits, loss and every gradient.
#include <functional>
#include <map>
#include <string>

#include "compute/machine/machine.h"
#include "compute/nn/network.h"
#include "tests/support/reference_nn.h"

namespace lab::test {

using Weights = std::map<std::string, Doubles>;  // under PyTorch's names, in PyTorch's order
using ReferenceNet = std::function<Images(const Weights&, const Images&)>;

// Gradients come from central differences of `reference`. Batches of `max_batch`, a shorter one and
// one image are tried, on all of the machine's threads and on one.
void expect_matches_reference(const std::function<nn::NetworkPlan()>& plan,
                              const ReferenceNet& reference, std::int64_t max_batch = 5);

// The parameters of a network as float64 in PyTorch's order.
Weights weights_of(nn::Network& network);

}  // namespace lab::test
