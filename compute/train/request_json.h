#pragma once
// Training requests as JSON text, for checkpoints and between ranks.
#include <string>
#include <string_view>

#include "compute/core/events/command.h"

namespace lab {

// Returns one line with every field. Doubles round-trip bit for bit (non-finite ones by name), as
// do paths that are not UTF-8 (byte by byte).
std::string to_json(const StartTraining& request);

// Throws Error(Corrupt) naming the field. Missing fields keep their defaults; unknown ones are
// ignored.
StartTraining training_from_json(std::string_view text);

// Returns "--batch 256 / --batch 128" for the first setting that differs and affects what is
// computed (not where or for how long); empty if there is none. Settings of synthetic images count
// only if both requests train on them, the number of epochs only if the learning rate falls.
std::string first_difference(const StartTraining& a, const StartTraining& b);

// The same for processes that train together, which must also agree on the course of the training:
// epochs, steps, evaluation, kernels, kind of shares, buckets and checkpoints.
std::string first_difference_between_ranks(const StartTraining& a, const StartTraining& b);

}  // namespace lab
