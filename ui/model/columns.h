#pragma once
// Helpers for series stored column by column, so that plots take spans without copying.
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace lab::ui {

using Column64 = std::vector<double>;

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Exponential moving average with bias correction: the first average equals the first value. A
// non-finite value leaves the average unchanged (NaN before the first finite value).
class Ema {
 public:
  explicit Ema(double keep = 0.95) : keep_(keep) {}
  // `weight`: of a value that counts less than one, such as that of a smaller batch.
  double add(double value, double weight = 1) {
    if (std::isfinite(value)) {
      const double part = (1 - keep_) * weight;
      sum_ = (1 - part) * sum_ + part * value;
      weight_ = (1 - part) * weight_ + part;
    }
    return weight_ > 0 ? sum_ / weight_ : kNoValue;
  }

 private:
  double keep_;
  double sum_ = 0;
  double weight_ = 0;
};

// The averages of a growing series, computed once per value.
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

// Moving average of a rate: the inverse of the average time, so that slow steps count as long as
// they took.
class RateEma {
 public:
  double add(double rate) { return 1 / time_.add(rate > 0 ? 1 / rate : kNoValue); }

 private:
  Ema time_;
};

// Removes the first `count` values.
inline void drop_front(Column64& column, std::size_t count) {
  column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace lab::ui
