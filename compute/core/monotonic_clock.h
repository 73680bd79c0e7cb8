#pragma once
#include <chrono>

namespace lab {

// Returns seconds on the steady clock, whose origin is arbitrary.
inline double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace lab
