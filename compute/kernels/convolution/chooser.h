#pragma once
// Which algorithm computes a stage of a layer.
#include <span>
#include <vector>

#include "compute/kernels/convolution/algorithm.h"

namespace lab {

// All of our own, gemm first, the library's not among them.
std::span<const ConvolutionAlgorithm* const> lab_convolutions();

// Those of them that may compute the case; gemm, which always can, comes first.
std::vector<const ConvolutionAlgorithm*> candidates(const ConvolutionCase& c);

// Whether Winograd's F(4x4, 3x3), the least exact, may compute the case.
bool winograd4_is_exact_enough(const ConvolutionCase& c);

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

}  // namespace lab
