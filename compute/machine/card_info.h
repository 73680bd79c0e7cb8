#pragma once
// What CUDA tells of a card.
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// A card as a device of the lab.
DeviceInfo describe_card(const CardFacts& facts, const GpuBackend& backend);

// Fills in what NVML left open of the cards that `backend` offers, and the runtime's version.
// `backend` null: the lab computes on no card. Throws nothing.
void complete_facts(std::vector<GpuFacts>& cards, GpuBackend* backend);

}  // namespace lab
