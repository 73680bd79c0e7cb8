#pragma once
// Choice of the convolution algorithms that a training uses.
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/kernels/convolution/chooser.h"
#include "compute/nn/network.h"
#include "compute/run/run_context.h"

namespace lab {

// Values of StartTraining::convolution: "auto", "rule", and the algorithms' names.
std::vector<std::string> convolution_choice_names();

// `request` must be complete. Measurements on the job's thread are reported as progress. `ctx` must
// outlive the chooser.
std::unique_ptr<ConvolutionChooser> make_chooser(const StartTraining& request, RunContext& ctx);

// "forward 16 winograd2, 5 gemm; backward 16 winograd4, 5 gemm"; empty without convolutions.
std::string chosen_convolutions(const nn::NetworkPlan& plan, Kernels kernels);

}  // namespace lab
