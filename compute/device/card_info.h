#pragma once
// A card's facts as a device of the lab.
#include "compute/gpu/gpu_backend.h"
#include "compute/types/device_info.h"

namespace lab {

DeviceInfo describe_card(const CardFacts& facts, const GpuBackend& backend);

}  // namespace lab
