#pragma once
// One algorithm wherever it can compute, gemm elsewhere: to compare algorithms with each other.
#include <string>
#include <string_view>
#include <vector>

#include "compute/kernels/convolution/chooser.h"

namespace lab {

// Of our own algorithms.
std::vector<std::string> convolution_names();

class NamedChooser final : public ConvolutionChooser {
 public:
  // Throws Error(NotFound) naming the choices.
  explicit NamedChooser(std::string_view name);
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) override;

 private:
  const ConvolutionAlgorithm& algorithm_;
};

}  // namespace lab
