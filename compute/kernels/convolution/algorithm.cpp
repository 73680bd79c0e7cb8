#include "compute/kernels/convolution/algorithm.h"

#include <fmt/format.h>

namespace lab {

const char* to_string(ConvolutionStage stage) {
  switch (stage) {
    case ConvolutionStage::Forward: return "forward";
    case ConvolutionStage::InputGradient: return "input gradient";
    case ConvolutionStage::WeightGradient: break;
  }
  return "weight gradient";
}

std::string describe(const ConvolutionCase& c) {
  const simd::ConvShape& s = c.shape;
  return fmt::format(
      "{} images of {}x{}x{} to {}x{}x{}, kernel {}, stride {}, padding {}, {} products, {} "
      "threads",
      c.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.kernel, s.stride, s.padding,
      to_string(c.products), c.threads);
}

ConvolutionCase case_of(const simd::ConvShape& shape, ConvolutionStage stage,
                        const ConvolutionContext& context) {
  return {.shape = shape,
          .stage = stage,
          .batch = context.batch,
          .threads = context.pool.size(),
          .products = context.products};
}

}  // namespace lab
