#pragma once
// Range checks of filled-in values. Internal to ui/model.
#include "compute/core/error.h"
#include "compute/core/fields/field.h"

namespace lab::ui {

// Throws Error(Usage) naming the first number of a request that is out of range.
template <typename Request>
void check_ranges(const Request& request) {
  const std::string fault = fault_in_ranges(request);
  if (!fault.empty()) throw Error(Errc::Usage, fault);
}

}  // namespace lab::ui
