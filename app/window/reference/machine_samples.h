#pragma once
// Samples of --json, read back: the inverse of app/headless/json_lines.h.
#include "compute/core/events/event.h"
#include "compute/core/files/json_fields.h"

namespace lab::app {

// All throw Error(Corrupt) naming the place, the field and what it must be. What --json does not
// tell keeps its default.
MatmulSample matmul_sample(const files::JsonFields& fields);
TransferSample transfer_sample(const files::JsonFields& fields);

}  // namespace lab::app
