#pragma once
// Quantities in words, as the log and all pages write them.
#include <string>

#include "compute/core/maybe.h"

namespace lab::ui {

std::string percent(double share);                // "61 %"; below 10 %: "6.1 %"
std::string percent(const Maybe<double>& share);  // or "N/A"

}  // namespace lab::ui
