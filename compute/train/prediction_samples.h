#pragma once
// A page of test images with what the network takes them for.
#include "compute/core/events/event.h"
#include "compute/data/dataset.h"
#include "compute/train/trainer.h"

namespace lab {

inline constexpr std::size_t kPredictionSamples = 48;

// 48 images where the set has as many: first wrong ones, the surest mistakes first, 32 of them
// unless there are too few right ones to fill the page; then right ones in the set's order.
Predictions sample_predictions(std::int64_t epoch, const ImageSet& images,
                               const Evaluation& evaluation);

}  // namespace lab
