#pragma once
// A way to compute a 2-D convolution and its gradients. Each stage of a layer may use another one.
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/kernels/ops/conv_shape.h"
#include "compute/machine/scratch.h"
#include "compute/machine/thread_pool.h"

namespace lab {

enum class ConvolutionStage { Forward, InputGradient, WeightGradient };
const char* to_string(ConvolutionStage stage);  // "forward", "input gradient", "weight gradient"

// What is to be computed, without the data.
struct ConvolutionCase {
  simd::ConvShape shape;
  ConvolutionStage stage = ConvolutionStage::Forward;
  std::int64_t batch = 1;  // images, at most
  int threads = 1;
  // BF16: factors of products are rounded to it; sums stay FP32.
  Precision products = Precision::F32;
  bool operator==(const ConvolutionCase&) const = default;
};
// "64 images of 28x28x64 to 14x14x128, kernel 3, stride 2, padding 1, f32 products, 2 threads"
std::string describe(const ConvolutionCase& c);

// What a call works with beside its arrays.
struct ConvolutionContext {
  ThreadPool& pool;
  std::int64_t batch = 0;     // images in the arrays
  Scratch scratch;            // scratch_bytes() of the case at least; its content is lost
  std::stop_token stop = {};  // long calls look at it and return early, results half done
  Precision products = Precision::F32;
};

// What a call of a stage computes.
ConvolutionCase case_of(const simd::ConvShape& shape, ConvolutionStage stage,
                        const ConvolutionContext& context);

// Arrays are FP32:
//   x, dx  [N, in_h, in_w, in_c]     y, dy  [N, out_h, out_w, out_c]     images NHWC
//   weight, d_weight  [out_c, kernel, kernel, in_c]     bias  [out_c] or null
// x and dy have kSlackFloats floats after them that may be read.
// Work     2*N*out_h*out_w*out_c*kernel*kernel*in_c FLOP a stage, when computed by definition
// Numerics FP32 sums; on one machine a result depends on the case and the batch alone
// Threads  one caller at a time for each context; algorithms themselves may be shared
class ConvolutionAlgorithm {
 public:
  static constexpr std::int64_t kSlackFloats = 16;

  virtual ~ConvolutionAlgorithm() = default;
  virtual const char* name() const = 0;  // "gemm", "winograd2", ...
  virtual bool supports(const ConvolutionCase& c) const = 0;
  virtual std::int64_t scratch_bytes(const ConvolutionCase& c) const = 0;

  // y = conv(x, weight) + bias
  virtual void forward(const simd::ConvShape& shape, const ConvolutionContext& context,
                       const float* x, const float* weight, const float* bias, float* y) const = 0;
  // dx = gradient (+ dx when accumulate)
  virtual void input_gradient(const simd::ConvShape& shape, const ConvolutionContext& context,
                              const float* dy, const float* weight, float* dx,
                              bool accumulate) const = 0;
  // Overwrites d_weight.
  virtual void weight_gradient(const simd::ConvShape& shape, const ConvolutionContext& context,
                               const float* x, const float* dy, float* d_weight) const = 0;
};

// Each is one object for the whole process.
const ConvolutionAlgorithm& gemm_convolution();       // im2col and our GEMM: any shape
const ConvolutionAlgorithm& direct_convolution();     // few channels, blocks of images
const ConvolutionAlgorithm& winograd2_convolution();  // F(2x2, 3x3)
const ConvolutionAlgorithm& winograd4_convolution();  // F(4x4, 3x3)
const ConvolutionAlgorithm& library_convolution();    // the library's kernels: any shape

// All of our own, gemm first, the library's not among them.
std::span<const ConvolutionAlgorithm* const> lab_convolutions();

// Those of them that may compute the case; gemm, which always can, comes first.
std::vector<const ConvolutionAlgorithm*> candidates(const ConvolutionCase& c);

// Whether Winograd's F(4x4, 3x3), the least exact, may compute the case.
bool winograd4_is_exact_enough(const ConvolutionCase& c);

// Names of lab_convolutions().
std::vector<std::string> convolution_names();

}  // namespace lab
