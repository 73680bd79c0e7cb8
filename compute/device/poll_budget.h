#pragma once
// How often something may be looked at when looking costs processor time.
#include <algorithm>

namespace lab {

class PollBudget {
 public:
  // At most every `interval_s`, and never for more than `share` of one core.
  PollBudget(double interval_s, double share) : interval_s_(interval_s), share_(share) {}

  bool due(double now_s) const { return now_s >= next_s_; }
  // Begun at `now_s`, it took `cost_s` of processor time.
  void spent(double now_s, double cost_s) {
    next_s_ = now_s + std::max(interval_s_, cost_s / share_);
  }

 private:
  double interval_s_, share_;
  double next_s_ = -1e300;
};

}  // namespace lab
