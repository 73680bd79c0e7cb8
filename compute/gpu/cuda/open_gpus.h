#pragma once
// The GPUs of this machine. Both builds, with and without CUDA, answer.
#include "compute/gpu/gpu_backend.h"

namespace lab {

// The back end, or why there is none. Starts the driver, which may take seconds; throws nothing.
GpuOffer open_gpus();

}  // namespace lab
