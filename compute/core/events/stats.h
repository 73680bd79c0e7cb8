#pragma once
// How often something was timed and how it spread.
#include <cstdint>

#include "compute/core/maybe.h"

namespace lab {

struct Timing {
  double median_s = 0;
  double p10_s = 0;
  double p90_s = 0;
  double min_s = 0;
  double max_s = 0;
  std::int64_t n = 0;       // timed repetitions, warm-up not counted
  std::int64_t warmup = 0;  // repetitions thrown away
  bool unstable = false;    // the time budget ended before the spread fell under the limit
};

// The state of the machine when a result was taken.
struct Conditions {
  std::int64_t unix_time_s = 0;
  Maybe<double> clock_mhz;
};

}  // namespace lab
