#include "compute/kernels/convolution/chooser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {

const ConvolutionAlgorithm& RuleChooser::choose(const ConvolutionCase& c, ThreadPool& /*pool*/) {
  return *candidates(c).back();
}

ConvolutionChooser& rule_chooser() {
  static RuleChooser chooser;
  return chooser;
}

NamedChooser::NamedChooser(std::string_view name) : name_(name) {
  const std::vector<std::string> names = convolution_names();
  if (std::find(names.begin(), names.end(), name_) != names.end()) return;
  throw Error(Errc::NotFound, trf("unknown convolution algorithm '{}'; choose one of {}", name,
                                  fmt::join(names, ", ")));
}

const ConvolutionAlgorithm& NamedChooser::choose(const ConvolutionCase& c, ThreadPool& /*pool*/) {
  for (const ConvolutionAlgorithm* algorithm : lab_convolutions()) {
    if (name_ == algorithm->name() && algorithm->supports(c)) return *algorithm;
  }
  return gemm_convolution();
}

}  // namespace lab
