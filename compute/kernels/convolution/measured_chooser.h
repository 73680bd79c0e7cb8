#pragma once
// Chooses the fastest algorithm on this machine; each choice is measured once and remembered.
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/kernels/convolution/remembered_choices.h"

namespace lab {

// Returns the seconds that each algorithm takes for the case, on random data: the minimum over a
// few interleaved runs after one untimed warm-up. An algorithm far behind the fastest is not run
// again. A run's time is the CPU time of all threads together, which excludes time taken by other
// programs and does not depend on which thread computed what. All algorithms must support the case.
// Once `stop` is requested, returns early with meaningless values. Throws std::bad_alloc.
std::vector<double> time_algorithms(const std::vector<const ConvolutionAlgorithm*>& algorithms,
                                    const ConvolutionCase& c, ThreadPool& pool,
                                    const std::stop_token& stop);

struct MeasuredChooserOptions {
  std::string processor;      // "AMD EPYC, family 25, model 1"; part of each choice's key
  std::stop_token stop = {};  // if requested, choose() throws Error(Errc::Cancelled)
  // Called before a measurement, on the thread that called choose().
  std::function<void(const ConvolutionCase&)> measuring = {};
  // Replaceable in tests.
  std::function<std::vector<const ConvolutionAlgorithm*>(const ConvolutionCase&)> eligible =
      candidates;
  std::function<std::vector<double>(const std::vector<const ConvolutionAlgorithm*>&,
                                    const ConvolutionCase&, ThreadPool&, const std::stop_token&)>
      time_algorithms = lab::time_algorithms;
};

// Batches of 64 or more images share a choice, as do smaller batches between the same powers of
// two. A choice is final for this process and, if `choices` has a usable file, for all later ones,
// so results are the same from run to run.
// Threads   may be called from several threads; one measures, the others wait and use its choice
class MeasuredChooser final : public ConvolutionChooser {
 public:
  // `choices` must outlive the chooser.
  MeasuredChooser(RememberedChoices& choices, MeasuredChooserOptions options);
  const ConvolutionAlgorithm& choose(const ConvolutionCase& c, ThreadPool& pool) override;

 private:
  RememberedChoices& choices_;
  const MeasuredChooserOptions options_;
};

}  // namespace lab
