#pragma once
// Images of a training's batches and the weights of its first layer, for display.
#include <cstdint>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/nn/network.h"
#include "compute/train/batch_loader.h"

namespace lab {

inline constexpr std::int64_t kInsightImages = 24;
inline constexpr std::int64_t kInsightUnits = 64;

// Takes images of the loader's step, some from the beginning of each device's slice; `images` is
// the number of images of each device, in the order of their slices.
void take_batch(const BatchLoader& loader, std::int64_t step_in_epoch,
                const std::vector<std::int64_t>& images, Insight& insight);

// Takes the weights of the first units of the first layer from the network's memory on the host. A
// convolution of one channel has a filter for each unit, a linear layer an image of weights; other
// first layers have none.
void take_first_layer(const nn::Network& network, Insight& insight);

}  // namespace lab
