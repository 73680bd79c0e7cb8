#pragma once
// The changes of a running training as JSON, for checkpoints and stored runs.
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "compute/core/events/event.h"

namespace lab {

// A list per field, so that the number of fields does not grow with the number of changes.
nlohmann::ordered_json changes_to_json(const std::vector<TrainingChanged>& changes);

// Throws Error(Corrupt), which says what is wrong.
std::vector<TrainingChanged> changes_from_json(const nlohmann::ordered_json& json);

}  // namespace lab
