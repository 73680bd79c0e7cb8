#pragma once
// Names of a network's operations and the minimum work of each.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/nn/network_plan.h"

namespace lab::nn {

struct OpName {
  // Layer that owns the weights, "resnet_block1.0.conv1"; without weights, "relu after net.1".
  std::string layer;
  std::string kind;   // "average pool"
  std::string shape;  // of one image, channels first: "6x28x28 to 6x14x14"
};

// Returns one name per operation, in order.
std::vector<OpName> name_ops(const NetworkPlan& plan);

struct Work {
  // FLOP of the direct algorithm; 0 for elementwise operations, which are bound by memory.
  std::int64_t flop = 0;
  // Compulsory traffic in bytes: each array that is read or written counts once in the type that it
  // has, parameters as FP32, regardless of caches and of the passes an implementation makes. Batch
  // norm's running statistics are excluded.
  //   forward    read inputs, parameters          write output
  //   backward   read output's gradient, the inputs and output that it needs, parameters
  //              write gradients of inputs (also read if accumulated) and of parameters
  // Backward reads parameters only for the gradients of inputs.
  std::int64_t bytes = 0;
};

// For `batch` images. On a GPU, backward of some operations needs other values.
Work work_of(const NetworkPlan& plan, const Op& op, Direction direction, std::int64_t batch,
             bool on_gpu = false);

}  // namespace lab::nn
