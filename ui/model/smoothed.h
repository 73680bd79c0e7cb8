#pragma once
// An exponential average of a growing series, computed once per value.
#include "ui/model/columns.h"

namespace lab::ui {

class Smoothed {
 public:
  // Appends the averages of what was appended to `values` since the last call, and returns all.
  // Starts over if `keep`, the weight of the past (0 to below 1), has changed.
  const Column64& follow(const Column64& values, double keep) {
    if (keep != keep_ || values.size() < averages_.size()) {
      keep_ = keep;
      ema_ = Ema(keep);
      averages_.clear();
    }
    while (averages_.size() < values.size()) {
      averages_.push_back(ema_.add(values[averages_.size()]));
    }
    return averages_;
  }

 private:
  double keep_ = -1;
  Ema ema_;
  Column64 averages_;
};

}  // namespace lab::ui
