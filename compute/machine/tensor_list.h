#pragma once
// The live buffers of the whole process.
#include "compute/core/events/event.h"
#include "compute/machine/machine.h"

namespace lab {

// Every live buffer of every device, oldest first. Safe from any thread.
TensorList list_tensors(Machine& machine);

}  // namespace lab
