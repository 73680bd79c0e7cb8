#pragma once
// What `device-lab train` and the Training page may ask for.
#include "compute/core/events/command.h"
#include "compute/core/events/share_list.h"
#include "compute/machine/machine.h"

namespace lab {

// The request with every default filled in. Throws Error naming the value, its range and the way
// out: NotFound for models and devices, Unsupported for what this version cannot train with,
// InvalidArgument for the rest.
//
// Devices are those of this process, each named once; under mpirun every process has its own.
// `shares` count when they are Listed, as fault_in_shares() lets them, and are cleared otherwise.
// `steps` and `epochs` count from the very beginning of a training that is resumed. A resumed
// training starts from its checkpoint, so an initial file beside it is an error; so are checkpoints
// every N steps without a folder. Without a folder of its own a resumed training writes no
// checkpoints.
StartTraining complete_request(StartTraining request, Machine& machine);

}  // namespace lab
