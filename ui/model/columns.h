#pragma once
// Helpers for series that are kept column by column, so that plots take spans without copying.
#include <cstddef>
#include <limits>
#include <vector>

namespace lab::ui {

using Column64 = std::vector<double>;

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Exponential moving average with bias correction, one value at a time: the first average is the
// first value. A value that is not finite leaves the average as it is (NaN before any finite one).
class Ema {
 public:
  explicit Ema(double keep = 0.95) : keep_(keep) {}
  double add(double value);

 private:
  double keep_;
  double sum_ = 0;
  double weight_ = 0;
};

// Drops the first `count` values.
void drop_front(Column64& column, std::size_t count);

}  // namespace lab::ui
