#pragma once
// An exponential average of a growing series, computed once per value.
#include "ui/model/columns.h"

namespace lab::ui {

class Smoothed {
 public:
  // Appends the averages of what was appended to `values` since the last call, and returns all.
  // `weights` are those of the values. Starts over if `keep`, the weight of the past (0 to below
  // 1), has changed.
  const Column64& follow(const Column64& values, const Column64& weights, double keep) {
    if (keep != keep_ || values.size() < averages_.size()) {
      keep_ = keep;
      ema_ = Ema(keep);
      averages_.clear();
      highest_ = kNoValue;
    }
    while (averages_.size() < values.size()) {
      const std::size_t i = averages_.size();
      averages_.push_back(ema_.add(values[i], weights[i]));
      highest_ = std::fmax(highest_, averages_.back());
    }
    return averages_;
  }
  double highest() const { return highest_; }  // of the averages; NaN: there is none

 private:
  double keep_ = -1;
  Ema ema_;
  Column64 averages_;
  double highest_ = kNoValue;
};

}  // namespace lab::ui
