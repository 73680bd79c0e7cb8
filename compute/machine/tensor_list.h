#pragma once
// The live buffers of the whole process.
#include "compute/machine/machine.h"
#include "compute/core/events/event.h"

namespace lab {

// Every live buffer of every device, oldest first. Safe from any thread.
TensorList list_tensors(Machine& machine);

}  // namespace lab
