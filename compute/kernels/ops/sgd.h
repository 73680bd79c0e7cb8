#pragma once
// Stochastic gradient descent over contiguous floats, on the calling thread.
#include <cstdint>

namespace lab::simd {

// PyTorch's order of operations:
//   g = grad + weight_decay * w;  v = first ? g : momentum * v + g;  w -= lr * v
// `velocity` may be null when momentum is 0; then w -= lr * g. `grad` is left as it is.
struct SgdArgs {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  bool first = false;  // the velocity holds nothing yet
};
void sgd_update(float* w, const float* grad, float* velocity, const SgdArgs& args, std::int64_t n);

}  // namespace lab::simd
