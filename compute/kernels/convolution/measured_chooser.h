#pragma once
// The algorithm that is fastest on this machine, measured once and remembered.
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/kernels/convolution/remembered_choices.h"

namespace lab {

// Seconds of each algorithm for the case, on random data: the best of a few runs in turns, after
// one untimed; one that is far behind is not run again. A run counts what its busiest thread
// computed, not what other programs took meanwhile. All must support the case. Ends early, with
// numbers that mean nothing, once `stop` is requested. Throws std::bad_alloc.
std::vector<double> race(const std::vector<const ConvolutionAlgorithm*>& algorithms,
                         const ConvolutionCase& c, ThreadPool& pool, const std::stop_token& stop);

struct MeasuredChooserOptions {
  std::string processor;      // its name: other processors have other choices
  std::stop_token stop = {};  // choose() then throws Error(Cancelled)
  // Told before a measurement, on the thread that asked for the choice.
  std::function<void(const ConvolutionCase&)> measuring = {};
  // Replaced in tests.
  std::function<std::vector<const ConvolutionAlgorithm*>(const ConvolutionCase&)> able = candidates;
  std::function<std::vector<double>(const std::vector<const ConvolutionAlgorithm*>&,
                                    const ConvolutionCase&, ThreadPool&, const std::stop_token&)>
      race = lab::race;
};

// Batches of 64 images and more share a choice, and so do smaller ones between the same powers of
// two. What was chosen stays so in this process, and as long as `choices` has a file that can be
// used in all that follow: results are the same from run to run.
// Threads   may be used from several; one measures, the others wait and take its choice over
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
