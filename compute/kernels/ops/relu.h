#pragma once
// Rectified linear unit over contiguous floats, on the calling thread.
#include <cstdint>

namespace lab::simd {

// x = max(x, 0) in place; NaN stays NaN, so that a diverged run shows.
void relu(float* x, std::int64_t n);

// dy = dy where y > 0, else 0, in place; y is relu's output.
void relu_backward(const float* y, float* dy, std::int64_t n);

}  // namespace lab::simd
