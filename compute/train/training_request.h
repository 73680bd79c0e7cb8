#pragma once
// What `device-lab train` and the Training page may ask for.
#include "compute/device/machine.h"
#include "compute/types/command.h"

namespace lab {

// The request with every default filled in. Throws Error naming the value, its range and the way
// out: NotFound for models and devices, Unsupported for what this version cannot train with,
// InvalidArgument for the rest.
StartTraining complete_request(StartTraining request, Machine& machine);

}  // namespace lab
