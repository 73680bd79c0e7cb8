#pragma once
// Operations on a row-major matrix with one value for each column: bias, and sums over the rows.
#include <cstdint>

namespace lab::simd {

// x[r, c] += bias[c].
void add_bias(float* x, const float* bias, std::int64_t rows, std::int64_t cols);

// sums[c] += sum over the rows of x[r, c], in FP64: many equal values, such as a background, would
// round the same way each time in FP32.
void column_sums(const float* x, std::int64_t rows, std::int64_t cols, double* sums);

// y[i] = a[i] summed over `count` arrays that lie `stride` floats apart, in order.
void sum_arrays(const float* a, std::int64_t count, std::int64_t stride, float* y, std::int64_t n);

}  // namespace lab::simd
