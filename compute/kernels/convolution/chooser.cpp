#include "compute/kernels/convolution/chooser.h"

namespace lab {
// Every rounding error of forward flips some activations at their kinks, and those of the first
// layers reach all behind them: from the book's initial weights ResNet-18's first update is twice
// as far from float64 when it computes them, and as near as ever when it computes only the layers
// of many channels. Gradients pass their errors on as they are.
bool winograd4_is_exact_enough(const ConvolutionCase& c) {
  constexpr std::int64_t kManyChannels = 256;
  return c.stage != ConvolutionStage::Forward || c.shape.in_c >= kManyChannels;
}

std::span<const ConvolutionAlgorithm* const> lab_convolutions() {
  static const ConvolutionAlgorithm* const all[] = {&gemm_convolution(), &direct_convolution(),
                                                    &winograd2_convolution(),
                                                    &winograd4_convolution()};
  return all;
}

std::vector<const ConvolutionAlgorithm*> candidates(const ConvolutionCase& c) {
  std::vector<const ConvolutionAlgorithm*> able;
  for (const ConvolutionAlgorithm* algorithm : lab_convolutions()) {
    if (algorithm->supports(c) &&
        (algorithm != &winograd4_convolution() || winograd4_is_exact_enough(c))) {
      able.push_back(algorithm);
    }
  }
  return able;
}

const ConvolutionAlgorithm& RuleChooser::choose(const ConvolutionCase& c, ThreadPool& /*pool*/) {
  return *candidates(c).back();
}

ConvolutionChooser& rule_chooser() {
  static RuleChooser chooser;
  return chooser;
}

}  // namespace lab
