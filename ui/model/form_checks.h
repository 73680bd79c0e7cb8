#pragma once
// Checks of typed-in values. For use inside ui/model only.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "compute/core/error.h"

namespace lab::ui {

inline double positive(double value, const char* what) {
  if (std::isfinite(value) && value > 0) return value;
  throw Error(Errc::Usage, fmt::format("{} is {:g}; it must be above 0", what, value));
}

inline std::int64_t positive(std::int64_t value, const char* what) {
  if (value > 0) return value;
  throw Error(Errc::Usage, fmt::format("{} is {}; it must be at least 1", what, value));
}

}  // namespace lab::ui
