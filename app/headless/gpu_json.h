#pragma once
// An NVIDIA GPU as a JSON object: its facts, its reading, and why what is missing is missing.
#include <nlohmann/json.hpp>

#include "compute/core/events/gpu_info.h"

namespace lab::app {

// `reading` may be null. Unknown values are null; "missing" holds the reason of each.
nlohmann::ordered_json gpu_json(const GpuFacts& facts, const GpuTelemetry* reading);

}  // namespace lab::app
