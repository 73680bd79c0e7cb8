#pragma once
// Estimates what PyTorch's nn.DataParallel repeats in its one process for each further device.
#include <string_view>

namespace lab {

// Time per forward operation that Python and the driver take to launch it. PyTorch's ResNet-50 runs
// 175 operations and takes 10.2 to 10.5 ms for 1, 2 and 4 images alike on a V100, so launching sets
// its pace: 59 us each (NVIDIA's DeepLearningExamples, ResNet-50 v1.5, PyTorch 21.03, inference
// latency of the DGX-1). Threads of one process take turns at it. Operations of backward are
// launched by one native thread per device and are not repeated.
inline constexpr double kLaunchS = 59e-6;
// Time per parameter tensor to copy the module's Python objects before each step: 180 ms for the
// 3000 tensors of ResNet-1001 (pytorch/pytorch issue 3930).
inline constexpr double kReplicateS = 60e-6;
// Time per parameter tensor to pack gradients for device 0, in addition to the transfer: taken from
// the opposite direction, 34 ms for 3000 tensors (same issue).
inline constexpr double kCollectS = 11e-6;

// Per step and further device.
double repeated_s(double operations, double parameter_tensors);
// Throws Error(NotFound) for an unknown model.
double repeated_s(std::string_view model);

}  // namespace lab
