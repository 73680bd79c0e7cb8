#include "compute/run/lab_clock.h"

#include <chrono>

namespace lab {

double lab_time_s() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace lab
