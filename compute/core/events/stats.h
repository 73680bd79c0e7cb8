#pragma once
// Statistics of repeated timings and the conditions under which they were taken.
#include <cstdint>

#include "compute/core/maybe.h"

namespace lab {

struct Timing {
  double median_s = 0;
  double p10_s = 0;
  double p90_s = 0;
  double min_s = 0;
  double max_s = 0;
  std::int64_t n = 0;       // timed repetitions, excluding warm-up
  std::int64_t warmup = 0;  // untimed repetitions
  bool unstable = false;    // the time budget ended before the spread fell below the limit
};

// State of the machine when a result was taken.
struct Conditions {
  std::int64_t unix_time_s = 0;
  Maybe<double> clock_mhz;
  bool clock_nominal = false;  // reported by a virtual machine; the processor may run at another
};

}  // namespace lab
