#pragma once
// Operations on a row-major matrix, on the calling thread: bias, column sums, and softmax
// cross-entropy of each row.
#include <cstdint>

namespace lab::simd {

// x[r, c] += bias[c].
void add_bias(float* x, const float* bias, std::int64_t rows, std::int64_t cols);

// sums[c] += sum over rows of x[r, c], in FP64. In FP32, many equal values, such as a background,
// would round the same way each time.
void column_sums(const float* x, std::int64_t rows, std::int64_t cols, double* sums);

struct CrossEntropyArgs {
  const float* logits = nullptr;         // [rows, classes]
  const std::uint8_t* labels = nullptr;  // [rows], < classes
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  // Share of the label spread over all classes: the target of class c is
  // (1 - smoothing) * onehot[c] + smoothing / classes.
  double smoothing = 0;
  float* losses = nullptr;            // [rows], -sum(target * log softmax(logits))
  std::uint8_t* predicted = nullptr;  // [rows], class of the largest logit, the first if tied
  float* confidence = nullptr;        // [rows], softmax probability of `predicted`; may be null
  float* d_logits = nullptr;          // [rows, classes], (softmax - target) / divisor; may be null
  double divisor = 1;                 // images in the whole batch, over all replicas
};

// Numerics  the row's maximum is subtracted first, exponentials and sums in FP64: no overflow
// Limits    1 <= classes <= 256
void softmax_cross_entropy(const CrossEntropyArgs& args);

}  // namespace lab::simd
