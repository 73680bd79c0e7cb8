#pragma once
// The passes of batch normalisation over a row-major matrix: rows are pixels, columns channels.
// Source  Ioffe and Szegedy, "Batch Normalization", 2015; gradient as in section 3
#include <cstdint>

namespace lab::simd {

// With v = x - centre per column, in FP64: sums += v; squares += v * v. A centre among the values
// preserves the precision of a variance that is small compared with the mean.
void centred_sums(const float* x, const float* centre, std::int64_t rows, std::int64_t cols,
                  double* sums, double* squares);

struct NormArgs {
  const float* mean = nullptr;   // [cols]
  const float* scale = nullptr;  // [cols], weight / sqrt(variance + eps)
  const float* shift = nullptr;  // [cols], the bias
  bool relu = false;             // y = relu(...)
};

// y = (x - mean) * scale + shift, plus `residual` unless null, then relu if args.relu. y may be x.
void normalise(const float* x, const float* residual, float* y, const NormArgs& args,
               std::int64_t rows, std::int64_t cols);

// With g = dy (under args.relu, 0 where y <= 0), per column in FP64:
//   sum_g += g;  sum_gx += g * (x - mean)
// Without `y` (null), computes it from x as normalise() does without a residual, to the same bits.
// Stores g in `g_out`, which may be dy, unless null.
void norm_backward_sums(const float* x, const float* y, const float* dy, const NormArgs& args,
                        std::int64_t rows, std::int64_t cols, double* sum_g, double* sum_gx,
                        float* g_out);

// dx = scale * (g - mean_g - (x - mean) * slope) per column, where g is computed from dy as above,
// without `y`. dx may be dy.
void norm_backward(const float* x, const float* dy, float* dx, const NormArgs& args,
                   const float* mean_g, const float* slope, std::int64_t rows, std::int64_t cols);

}  // namespace lab::simd
