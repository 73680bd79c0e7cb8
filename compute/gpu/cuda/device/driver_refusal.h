#pragma once
// Why the runtime offers no GPU.
#include <cuda_runtime_api.h>

#include "compute/gpu/gpu_backend.h"

namespace lab::cuda {

// "13.0" of 13000.
std::string version_text(int version);

// Fills reason and driver_answered. `status` is what cudaGetDeviceCount said; the driver's library
// is asked itself, because the runtime has one status for a driver that is missing and one too old.
void explain_refusal(cudaError_t status, GpuOffer& offer);

}  // namespace lab::cuda
