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
