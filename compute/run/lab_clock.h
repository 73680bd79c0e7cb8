#pragma once
// The lab's time axis: seconds since the program started.
#include <chrono>

namespace lab {

// Returns the seconds since the first call, which main() makes at startup. Monotonic and
// thread-safe.
inline double lab_time_s() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace lab
