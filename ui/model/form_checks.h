#pragma once
// Checks of filled-in values. For use inside ui/model only.
#include "compute/core/error.h"
#include "compute/core/fields/field.h"

namespace lab::ui {

// Throws Error(Usage) naming the first number of a request that is out of its range.
template <typename Request>
void check_ranges(const Request& request) {
  const std::string fault = fault_in_ranges(request);
  if (!fault.empty()) throw Error(Errc::Usage, fault);
}

}  // namespace lab::ui
