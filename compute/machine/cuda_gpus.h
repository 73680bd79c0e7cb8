#pragma once
// What CUDA tells of a GPU.
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// A GPU as a device of the lab.
DeviceInfo describe_gpu(const GpuProperties& facts, const GpuBackend& backend);

// Fills in what NVML left open of the GPUs that `backend` offers, and the runtime's version.
// `backend` null: the lab computes on no GPU. Throws nothing.
void complete_facts(std::vector<GpuFacts>& gpus, GpuBackend* backend);

}  // namespace lab
