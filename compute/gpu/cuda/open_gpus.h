#pragma once
// Opens the GPUs of this machine. Builds without CUDA implement it too (stand_in).
#include "compute/gpu/gpu_backend.h"

namespace lab {

// Returns the backend, or the reason why there is none. Starts the driver, which may take seconds.
// Throws nothing.
GpuBackendResult open_gpus();

}  // namespace lab
