#pragma once
// Elementwise operations that training needs besides its layers, on contiguous floats and the
// calling thread: bytes to floats, sums of arrays, the weight update.
#include <cstdint>
#include <span>

namespace lab::simd {

// out[i] = pixels[i] / 255, correctly rounded.
void pixels_to_floats(const std::uint8_t* pixels, float* out, std::int64_t n);

// target[j][i] = source[0][i] + source[1][i] + ..., added in this order, for i in [begin, end) and
// every j. Targets may be among the sources. Without sources the sum is 0.
void sum_arrays(std::span<const float* const> sources, std::span<float* const> targets,
                std::int64_t begin, std::int64_t end);

// y[i] = sum of a[t * stride + i] over t in [0, count), in order.
void sum_arrays(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n);

// Stochastic gradient descent, in PyTorch's order of operations:
//   g = grad + weight_decay * w;  v = first ? g : momentum * v + g;  w -= lr * v
// `velocity` may be null if momentum is 0; then w -= lr * g. `grad` is not modified.
struct SgdArgs {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  bool first = false;  // the velocity is uninitialised
};
void sgd_update(float* w, const float* grad, float* velocity, const SgdArgs& args, std::int64_t n);

}  // namespace lab::simd
