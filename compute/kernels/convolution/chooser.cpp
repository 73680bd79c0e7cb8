#include "compute/kernels/convolution/chooser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

const ConvolutionAlgorithm& find(std::string_view name) {
  for (const ConvolutionAlgorithm* algorithm : lab_convolutions()) {
    if (name == algorithm->name()) return *algorithm;
  }
  throw Error(Errc::NotFound, trf("unknown convolution algorithm '{}'; choose one of {}", name,
                                  fmt::join(convolution_names(), ", ")));
}

}  // namespace

const ConvolutionAlgorithm& RuleChooser::choose(const ConvolutionCase& c, ThreadPool& /*pool*/) {
  return *candidates(c).back();
}

ConvolutionChooser& rule_chooser() {
  static RuleChooser chooser;
  return chooser;
}

NamedChooser::NamedChooser(std::string_view name) : algorithm_(find(name)) {}

const ConvolutionAlgorithm& NamedChooser::choose(const ConvolutionCase& c, ThreadPool& /*pool*/) {
  return algorithm_.supports(c) ? algorithm_ : gemm_convolution();
}

}  // namespace lab
