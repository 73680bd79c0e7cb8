#pragma once
// Statistics of repeated timings and the conditions under which they were taken.
#include <cstdint>
#include <string>

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

// A range so wide that one figure would not stand for it.
inline bool varies_much(double low, double high) {
  constexpr double kMuch = 0.25;
  return high > 0 && high - low >= kMuch * high;
}

// From as many repetitions on, the spread of a median is known.
inline constexpr std::int64_t kFewestForSpread = 6;

// Whether the time limit left too few repetitions to know the spread.
inline bool has_few_repetitions(const Timing& t) {
  return t.unstable && t.n > 0 && t.n < kFewestForSpread;
}

// Whether a median should be shown with its range: its time limit ended before its spread was small
// enough, or the repetitions vary by more than a quarter, p10 to p90.
inline bool is_unsteady(const Timing& t) {
  return (t.unstable && !has_few_repetitions(t)) || varies_much(t.p10_s, t.p90_s);
}

// How far repetitions spread, in words. "±12 %": half of the range from p10 to p90, as a share of
// the median; "over ±50 %", where a figure minus its spread says nothing; "1 repetition". Empty
// without a median.
std::string half_range(double low, double high, double median, std::int64_t n);

}  // namespace lab
