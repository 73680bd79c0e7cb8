#include "ui/model/columns.h"

#include <cmath>

namespace lab::ui {

double Ema::add(double value) {
  if (std::isfinite(value)) {
    sum_ = keep_ * sum_ + (1 - keep_) * value;
    weight_ = keep_ * weight_ + (1 - keep_);
  }
  return weight_ > 0 ? sum_ / weight_ : kNoValue;
}

void drop_front(Column64& column, std::size_t count) {
  column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace lab::ui
