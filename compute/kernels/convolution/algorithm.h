#pragma once
// Interface of the algorithms that compute a 2-D convolution and its gradients. Each stage of a
// layer may use a different algorithm.
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

// The problem to solve, without its data.
struct ConvolutionCase {
  simd::ConvShape shape;
  ConvolutionStage stage = ConvolutionStage::Forward;
  std::int64_t batch = 1;  // maximum number of images
  int threads = 1;
  // BF16: operands are rounded to bf16; accumulation is FP32.
  Precision products = Precision::F32;
  bool operator==(const ConvolutionCase&) const = default;
};
// "64 images of 28x28x64 to 14x14x128, kernel 3, stride 2, padding 1, f32 products"
std::string describe(const ConvolutionCase& c);

// Resources and options of a call, apart from its arrays.
struct ConvolutionContext {
  ThreadPool& pool;
  std::int64_t batch = 0;     // images in the arrays
  Scratch scratch;            // at least scratch_bytes() of the case; overwritten
  std::stop_token stop = {};  // polled by long calls, which then return early with partial results
  Precision products = Precision::F32;
};

// Returns the case that a call with these arguments computes.
ConvolutionCase case_of(const simd::ConvShape& shape, ConvolutionStage stage,
                        const ConvolutionContext& context);

// Arrays are FP32:
//   x, dx  [N, in_h, in_w, in_c]     y, dy  [N, out_h, out_w, out_c]     images NHWC
//   weight, d_weight  [out_c, kernel, kernel, in_c]     bias  [out_c] or null
// x and dy are followed by kSlackFloats readable floats.
// Work     2*N*out_h*out_w*out_c*kernel*kernel*in_c FLOP per stage, when computed by definition
// Numerics FP32 accumulation; results depend on the problem and the SIMD level, not on the threads
// Threads  one caller at a time per context; algorithm objects may be shared between threads
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

// Each function returns an object that exists once per process.
const ConvolutionAlgorithm& gemm_convolution();       // im2col and the lab's GEMM: any shape
const ConvolutionAlgorithm& direct_convolution();     // definition: few channels, blocks of images
const ConvolutionAlgorithm& winograd2_convolution();  // F(2x2, 3x3)
const ConvolutionAlgorithm& winograd4_convolution();  // F(4x4, 3x3)
// F(5x2, 5x5): few channels, blocks of images. Its name is "winograd2" too.
const ConvolutionAlgorithm& lane_winograd_convolution();
const ConvolutionAlgorithm& library_convolution();  // oneDNN: any shape

// The lab's own algorithms, gemm first; excludes library_convolution().
std::span<const ConvolutionAlgorithm* const> lab_convolutions();

// Returns the lab's algorithms that may compute the case. gemm, which supports every case, is
// first. Algorithms that another one surpasses by their numbers of operations are left out.
std::vector<const ConvolutionAlgorithm*> candidates(const ConvolutionCase& c);

// Returns true if Winograd F(4x4, 3x3), the least accurate algorithm, may compute the case.
bool winograd4_is_accurate_enough(const ConvolutionCase& c);

// Returns the names of lab_convolutions(), each once.
std::vector<std::string> convolution_names();

}  // namespace lab
