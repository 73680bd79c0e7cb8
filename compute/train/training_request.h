#pragma once
// Validation of training requests from `device-lab train` and the Training page.
#include <optional>
#include <string>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/core/events/share_list.h"
#include "compute/core/fields/enum_names.h"
#include "compute/machine/machine.h"

namespace lab {

// Returns the request with every default filled in. Throws Error naming the value, its range and a
// fix: NotFound for models and devices, Unsupported for what this version cannot train with,
// InvalidArgument otherwise.
//
// Devices are those of this process, each listed once; under mpirun every process has its own.
// `shares` are checked by validate_shares() if Listed and cleared otherwise. `steps` and `epochs`
// of a resumed training count from its very beginning. A resumed training starts from its
// checkpoint, so an initial file is an error; so is a checkpoint interval without a folder. A
// resumed training without a checkpoint folder writes no checkpoints.
StartTraining complete_request(StartTraining request, Machine& machine);

// If the request compares kernels and a GPU cannot compute with its libraries, ends the comparison,
// so that the lab's kernels compute alone, and returns what is skipped and why. The profile of the
// comparison then ends too if the first device is never timed.
std::optional<Skipped> skip_missing_library(StartTraining& request, Machine& machine);

// The remark in the log of a training whose shares are measured.
inline constexpr const char* kMeasuredShares =
    LAB_TEXT("auto shares follow measured times: results do not repeat bit for bit");

// Whether any step of a completed request computes with libraries.
bool uses_library(const StartTraining& request);
// The libraries with which the GPUs of a completed request compute, with their versions; empty if
// they use none.
std::string gpu_libraries(const StartTraining& request, Machine& machine);

}  // namespace lab
