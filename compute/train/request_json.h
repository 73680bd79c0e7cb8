#pragma once
// A training request as JSON text: in checkpoints, and between ranks.
#include <string>
#include <string_view>

#include "compute/core/events/command.h"

namespace lab {

// One line; every field, doubles so that they read back bit for bit (numbers that are none by
// name), paths that are not UTF-8 byte by byte.
std::string to_json(const StartTraining& request);

// Throws Error(Corrupt) naming the field. Fields that are not there keep their defaults, unknown
// ones are passed over.
StartTraining training_from_json(std::string_view text);

// "--batch 256 / --batch 128" for the first setting of those that decide what is computed (not
// where, nor for how long) in which the two differ; empty when they agree. Synthetic images count
// only where both train on them.
std::string first_difference(const StartTraining& a, const StartTraining& b);

// The same for processes that train together, which must also agree on how far they go and in
// which pieces: epochs, steps, evaluation, kernels, the kind of shares, buckets, checkpoints.
std::string first_difference_between_ranks(const StartTraining& a, const StartTraining& b);

}  // namespace lab
