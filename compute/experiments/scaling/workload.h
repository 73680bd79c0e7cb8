#pragma once
// The gradients of a model as the scaling model sees them.
#include <cstdint>
#include <string_view>
#include <vector>

#include "compute/experiments/scaling/scaling_model.h"

namespace lab {

// The buckets a trainer makes of the model's gradients, and when in backward each is complete: in
// proportion to the multiplications done until then, which takes all of backward's operations for
// equally quick. Throws Error(NotFound) for an unknown model.
std::vector<BucketLoad> bucket_loads(std::string_view model, std::int64_t bucket_bytes);

}  // namespace lab
