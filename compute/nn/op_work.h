#pragma once
// What the operations of a network are called and what each has to do at least.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/nn/network_plan.h"

namespace lab::nn {

struct OpName {
  // The layer of its weights, "resnet_block1.0.conv1"; without weights what it follows, "relu after
  // net.1".
  std::string layer;
  std::string kind;   // "average pool"
  std::string shape;  // of one image, channels first: "6x28x28 to 6x14x14"
};

// In the order of the operations.
std::vector<OpName> name_ops(const NetworkPlan& plan);

struct Work {
  // Products and sums of the direct algorithm; 0 for elementwise operations, which memory bounds.
  std::int64_t flop = 0;
  // Compulsory traffic: each FP32 array that is read or written, once, whatever caches hold and
  // however often the operation really goes over it. Batch norm's running statistics are left out.
  //   forward    read inputs, parameters          write output
  //   backward   read output's gradient, what is kept of input and output, parameters
  //              write gradients of inputs (read too where they are added to) and of parameters
  // Parameters are read in backward only for the gradients of inputs.
  std::int64_t bytes = 0;
};

// For `batch` images.
Work work_of(const NetworkPlan& plan, const Op& op, Direction direction, std::int64_t batch);

}  // namespace lab::nn
