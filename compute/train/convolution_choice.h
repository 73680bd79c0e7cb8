#pragma once
// Which convolution algorithms a training uses, as asked for.
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/nn/network.h"
#include "compute/run/run_context.h"

namespace lab {

// What StartTraining::convolution may be: "auto", "rule", and the algorithms' names.
std::vector<std::string> convolution_choice_names();

// For a complete request. While it measures, the job's thread says so as progress. `ctx` must
// outlive it.
std::unique_ptr<ConvolutionChooser> make_chooser(const StartTraining& request, RunContext& ctx);

// "forward 16 winograd2, 5 gemm; backward 16 winograd4, 5 gemm"; empty without convolutions.
std::string chosen_convolutions(const nn::NetworkPlan& plan, Kernels kernels);

}  // namespace lab
