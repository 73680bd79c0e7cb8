#pragma once
// Which algorithm computes a stage of a layer: by rule or by name; by measurement in
// measured_chooser.h.
#include <string_view>

#include "compute/kernels/convolution/algorithm.h"

namespace lab {

class ConvolutionChooser {
 public:
  virtual ~ConvolutionChooser() = default;
  // The same answer for the same case as long as the chooser lives.
  // `pool` has the case's threads, for who measures.
  virtual const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) = 0;
};

// Chooses by the shape alone, the same on every machine.
class RuleChooser final : public ConvolutionChooser {
 public:
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) override;
};
ConvolutionChooser& rule_chooser();  // one for the whole process

// One algorithm wherever it can compute, gemm elsewhere: to compare algorithms with each other.
class NamedChooser final : public ConvolutionChooser {
 public:
  // Throws Error(NotFound) naming the choices.
  explicit NamedChooser(std::string_view name);
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) override;

 private:
  const ConvolutionAlgorithm& algorithm_;
};

}  // namespace lab
