#pragma once
// The one time axis of the window: seconds since the program started.
#include <chrono>

namespace lab {

// Seconds since the first call, which main makes at start. Monotonic; safe from any thread.
inline double lab_time_s() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace lab
