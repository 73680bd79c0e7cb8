#pragma once
// What `device-lab train` and the Training page may ask for.
#include <cstddef>
#include <string>
#include <vector>

#include "compute/device/machine.h"
#include "compute/types/command.h"

namespace lab {

// The request with every default filled in. Throws Error naming the value, its range and the way
// out: NotFound for models and devices, Unsupported for what this version cannot train with,
// InvalidArgument for the rest.
//
// Devices are those of this process, each named once; under mpirun every process has its own.
// `shares` count when they are Listed, and are cleared otherwise. `steps` and `epochs` count from
// the very beginning of a training that is resumed. A resumed training starts from its checkpoint,
// so an initial file beside it is an error; so are checkpoints every N steps without a folder.
// Without a folder of its own a resumed training writes no checkpoints.
StartTraining complete_request(StartTraining request, Machine& machine);

// What is wrong with listed shares, with the count, the values or their sum, and the way out; empty
// when nothing is. There is one for each device, finite, none negative, one above 0 at least. They
// are in any unit (images, GFLOP/s, 2,1), but fractions, that is shares up to 1 of which one is no
// whole number, are parts of the batch and must sum to 1 within 0.001. The share of a single
// device may be any: other processes may have the rest.
std::string fault_in_shares(const std::vector<double>& shares, std::size_t devices);

}  // namespace lab
