#pragma once
// What the fake libraries compute, in float64 over FP32 arrays in NHWC.
#include <cstdint>

namespace lab::test {

// result = alpha * value + beta * result; with beta = 0 the result is not read.
struct Blend {
  float alpha = 1, beta = 0;
  void operator()(double value, float& result) const {
    const double before = beta == 0 ? 0.0 : double{beta} * double{result};
    result = static_cast<float>(double{alpha} * value + before);
  }
};

// x [n, h, w, c]   y [n, out_h, out_w, k]   w [k, side, side, c]
struct FakeConvolution {
  std::int64_t n, h, w, c, out_h, out_w, k, side, padding, stride;
  bool tf32 = false;  // operands are rounded to it
  Blend blend;
};
void convolve(const FakeConvolution& s, const float* x, const float* weight, float* y);
void convolve_data(const FakeConvolution& s, const float* weight, const float* dy, float* dx);
void convolve_filter(const FakeConvolution& s, const float* x, const float* dy, float* dweight);

// Column-major: C [m, n] = op(A) op(B); an operand is transposed if so marked.
struct FakeGemm {
  std::int64_t m, n, k, lda, ldb, ldc;
  bool a_transposed, b_transposed;
  bool tf32 = false;
  Blend blend;
};
void multiply(const FakeGemm& g, const float* a, const float* b, float* c);

// x, y, dy, dx [rows, channels], all other arrays [channels]
struct FakeNorm {
  std::int64_t rows, channels;
  double epsilon = 0, momentum = 0;
};
struct NormArrays {
  const float *x, *scale, *bias;
  float* y;
  float *running_mean, *running_variance, *mean, *inverse_deviation;
};
void normalise(const FakeNorm& s, const NormArrays& a);
void normalise_inference(const FakeNorm& s, const float* x, const float* scale, const float* bias,
                         const float* mean, const float* variance, float* y);
struct NormGradients {
  const float *x, *dy, *scale, *mean, *inverse_deviation;
  float *dx, *dscale, *dbias;
};
void normalise_backward(const FakeNorm& s, const NormGradients& a);

// x [n, h, w, c] averaged over windows without padding
struct FakePool {
  std::int64_t n, h, w, c, out_h, out_w, window_h, window_w, stride;
  Blend blend;
};
void average(const FakePool& s, const float* x, float* y);
void average_backward(const FakePool& s, const float* dy, float* dx);

}  // namespace lab::test
