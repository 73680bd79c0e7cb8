#pragma once
// Selects the algorithm for a stage of a layer, by rule or by name. measured_chooser.h selects by
// measurement.
#include <string>
#include <string_view>

#include "compute/kernels/convolution/algorithm.h"

namespace lab {

class ConvolutionChooser {
 public:
  virtual ~ConvolutionChooser() = default;
  // Returns the same algorithm for the same case throughout the chooser's lifetime. `pool` has the
  // case's number of threads; choosers that measure run on it.
  virtual const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) = 0;
};

// Chooses from the case without measuring: the last of candidates().
class RuleChooser final : public ConvolutionChooser {
 public:
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) override;
};
ConvolutionChooser& rule_chooser();  // one per process

// Chooses the algorithm of a name that supports the case, and gemm if there is none, to compare
// algorithms.
class NamedChooser final : public ConvolutionChooser {
 public:
  // Throws Error(Errc::NotFound) listing the valid names.
  explicit NamedChooser(std::string_view name);
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) override;

 private:
  const std::string name_;
};

}  // namespace lab
