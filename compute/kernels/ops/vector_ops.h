#pragma once
// Elementwise work on contiguous floats that training needs beside its layers, on the calling
// thread: bytes to floats, sums of arrays, the update of the weights.
#include <cstdint>
#include <span>

namespace lab::simd {

// out[i] = pixels[i] / 255, correctly rounded.
void pixels_to_floats(const std::uint8_t* pixels, float* out, std::int64_t n);

// target[j][i] = source[0][i] + source[1][i] + ..., added in this order, for i in [begin, end) and
// every j. Targets may be among the sources. Without a source the sum is 0.
void sum_arrays(std::span<const float* const> sources, std::span<float* const> targets,
                std::int64_t begin, std::int64_t end);

// y[i] = a[i] summed over `count` arrays that lie `stride` floats apart, in order.
void sum_arrays(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n);

// Stochastic gradient descent, in PyTorch's order of operations:
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
