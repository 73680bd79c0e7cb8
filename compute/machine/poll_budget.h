#pragma once
// How often something may be looked at when looking costs time.
#include <algorithm>

namespace lab {

// What one look took, in seconds.
struct PollCost {
  double cpu_s = 0;      // processor time
  double elapsed_s = 0;  // on the clock: a driver that waits also keeps others waiting
};

class PollBudget {
 public:
  // At most every `interval_s`, never for more than `share` of one core, nor for more than
  // kWaitingShare of the time; waiting alone puts a look off by kLongestPause_s at most.
  PollBudget(double interval_s, double share) : interval_s_(interval_s), share_(share) {}
  static constexpr double kWaitingShare = 0.05;
  static constexpr double kLongestPause_s = 30;

  bool due(double now_s) const { return now_s >= next_s_; }
  // Of a look begun at `now_s`.
  void spent(double now_s, const PollCost& cost) {
    const double pause_s = std::min(cost.elapsed_s / kWaitingShare, kLongestPause_s);
    next_s_ = now_s + std::max({interval_s_, cost.cpu_s / share_, pause_s});
  }

 private:
  double interval_s_, share_;
  double next_s_ = -1e300;
};

}  // namespace lab
