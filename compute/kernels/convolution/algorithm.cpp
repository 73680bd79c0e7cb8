#include "compute/kernels/convolution/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compute/core/language.h"
#include "compute/kernels/convolution/lane_winograd.h"

namespace lab {

const char* to_string(ConvolutionStage stage) {
  switch (stage) {
    case ConvolutionStage::Forward: return LAB_TEXT("forward");
    case ConvolutionStage::InputGradient: return LAB_TEXT("input gradient");
    case ConvolutionStage::WeightGradient: break;
  }
  return LAB_TEXT("weight gradient");
}

std::string describe(const ConvolutionCase& c) {
  const simd::ConvShape& s = c.shape;
  return fmt::format(
      "{} images of {}x{}x{} to {}x{}x{}, kernel {}, stride {}, padding {}, {} products", c.batch,
      s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.kernel, s.stride, s.padding,
      to_string(c.products));
}

ConvolutionCase case_of(const simd::ConvShape& shape, ConvolutionStage stage,
                        const ConvolutionContext& context) {
  return {.shape = shape,
          .stage = stage,
          .batch = context.batch,
          .threads = context.pool.size(),
          .products = context.products};
}

// Rounding errors in forward can move ReLU inputs across zero, and errors in the first layers
// reach all later layers. From the book's initial weights, ResNet-18's first update is twice as far
// from float64 if F(4x4, 3x3) computes the first layers, but no farther than without it if it
// computes only layers with many channels. Gradients propagate errors unchanged.
bool winograd4_is_accurate_enough(const ConvolutionCase& c) {
  constexpr std::int64_t kManyChannels = 256;
  return c.stage != ConvolutionStage::Forward || c.shape.in_c >= kManyChannels;
}

std::span<const ConvolutionAlgorithm* const> lab_convolutions() {
  static const ConvolutionAlgorithm* const all[] = {
      &gemm_convolution(), &direct_convolution(), &lane_winograd_convolution(),
      &winograd2_convolution(), &winograd4_convolution()};
  return all;
}

std::vector<const ConvolutionAlgorithm*> candidates(const ConvolutionCase& c) {
  const ConvolutionAlgorithm* const lane_winograd = &lane_winograd_convolution();
  const bool pays = lane_winograd->supports(c) && LaneWinograd::pays(c.shape);
  const auto eligible = [&](const ConvolutionAlgorithm* algorithm) {
    if (algorithm == lane_winograd) return pays;
    if (algorithm == &direct_convolution() && pays) return false;
    if (algorithm == &winograd4_convolution() && !winograd4_is_accurate_enough(c)) return false;
    return algorithm->supports(c);
  };
  std::vector<const ConvolutionAlgorithm*> found;
  std::copy_if(lab_convolutions().begin(), lab_convolutions().end(), std::back_inserter(found),
               eligible);
  return found;
}

std::vector<std::string> convolution_names() {
  std::vector<std::string> names;
  for (const ConvolutionAlgorithm* algorithm : lab_convolutions()) {
    const std::string name = algorithm->name();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace lab
