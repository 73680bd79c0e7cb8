#include "ui/plot/extremes.h"

#include <limits>

namespace lab::ui::plot {
namespace {

constexpr std::size_t kSmall = 32;           // values a small block
constexpr std::size_t kLarge = 32 * kSmall;  // values a large block
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Collects candidates; the first of equal ones stays.
class Search {
 public:
  Search(std::span<const double> y, double floor) : y_(y), floor_(floor) {}

  void value(std::size_t i) {
    const double v = y_[i];
    if (!(v > floor_ && v < kInfinity)) return;
    if (!found_) found_ = LowHigh{i, i};
    if (v < y_[found_->lowest]) found_->lowest = i;
    if (v > y_[found_->highest]) found_->highest = i;
  }
  void values(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) value(i);
  }
  // A block whose lowest value lies under the floor says nothing about its lowest above.
  void block(const std::optional<LowHigh>& b, std::size_t from, std::size_t size) {
    if (!b) return;
    if (!(y_[b->lowest] > floor_)) {
      values(from, from + size);
      return;
    }
    value(b->lowest);
    value(b->highest);
  }
  const std::optional<LowHigh>& found() const { return found_; }

 private:
  std::span<const double> y_;
  double floor_;
  std::optional<LowHigh> found_;
};

}  // namespace

void Extremes::follow(std::span<const double> y) {
  if (y.size() < small_.size() * kSmall) {
    small_.clear();
    large_.clear();
  }
  while ((small_.size() + 1) * kSmall <= y.size()) {
    Search search(y, -kInfinity);
    search.values(small_.size() * kSmall, (small_.size() + 1) * kSmall);
    small_.push_back(search.found());
  }
  while ((large_.size() + 1) * kLarge <= small_.size() * kSmall) {
    Search search(y, -kInfinity);
    const std::size_t first = large_.size() * (kLarge / kSmall);
    for (std::size_t b = first; b < first + kLarge / kSmall; ++b) {
      search.block(small_[b], b * kSmall, kSmall);
    }
    large_.push_back(search.found());
  }
}

std::optional<LowHigh> Extremes::of(std::span<const double> y, std::size_t from, std::size_t to,
                                    double floor) const {
  Search search(y, floor);
  std::size_t i = from;
  while (i < to) {
    if (i % kLarge == 0 && i + kLarge <= to && i / kLarge < large_.size()) {
      search.block(large_[i / kLarge], i, kLarge);
      i += kLarge;
    } else if (i % kSmall == 0 && i + kSmall <= to && i / kSmall < small_.size()) {
      search.block(small_[i / kSmall], i, kSmall);
      i += kSmall;
    } else {
      search.value(i);
      ++i;
    }
  }
  return search.found();
}

}  // namespace lab::ui::plot
