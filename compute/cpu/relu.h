#pragma once
// Rectified linear unit over contiguous floats, on the calling thread.
#include <cstdint>

namespace lab::simd {

// x = max(x, 0) in place; NaN stays NaN, so that a diverged run shows.
void relu(float* x, std::int64_t n);

// dy = dy where y > 0, else 0, in place; y is relu's output.
void relu_backward(const float* y, float* dy, std::int64_t n);

// y = relu(a + b); y may be a or b.
void add_relu(const float* a, const float* b, float* y, std::int64_t n);

// da = db = dy where y > 0, else 0. da and db may be dy itself, not each other's part.
void add_relu_backward(const float* y, const float* dy, float* da, float* db, std::int64_t n);

}  // namespace lab::simd
