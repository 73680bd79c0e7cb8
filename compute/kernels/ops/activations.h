#pragma once
// Rectified linear unit and logistic function over contiguous floats, on the calling thread.
#include <cstdint>

namespace lab::simd {

// x = max(x, 0) in place; NaN stays NaN, so that divergence is visible.
void relu(float* x, std::int64_t n);

// dy = y > 0 ? dy : 0 in place; y is the output of relu().
void relu_backward(const float* y, float* dy, std::int64_t n);

// x = 1 / (1 + exp(-x)) in place. Numerics: relative error at most 4 ulp; NaN stays NaN.
void sigmoid(float* x, std::int64_t n);

// dy = dy * y * (1 - y) in place; y is the output of sigmoid().
void sigmoid_backward(const float* y, float* dy, std::int64_t n);

}  // namespace lab::simd
