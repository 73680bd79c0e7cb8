#include "ui/plot/decimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lab::ui::plot {
namespace {

constexpr std::size_t kSmall = 32;           // values per small block
constexpr std::size_t kLarge = 32 * kSmall;  // values per large block
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Tracks the extremes; the first of equal values is kept.
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
  // If the lowest value of a block is not above the floor, the block must be searched.
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

// --- thinning -------------------------------------------------------------------------------

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

int columns_of(const AxisMap& map) {
  return std::max(1, static_cast<int>(std::ceil(std::abs(map.to - map.from))));
}

// Calls f(first, last) for the points of each non-empty pixel column.
template <typename F>
void for_each_column(std::span<const double> x, Window w, const AxisMap& map, F f) {
  const int columns = columns_of(map);
  const float direction = map.to >= map.from ? 1.0F : -1.0F;
  std::size_t at = w.first;
  const auto end_before = [&](double edge) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(w.last);
    return static_cast<std::size_t>(std::lower_bound(begin, end, edge) - x.begin());
  };
  const auto emit = [&](std::size_t end) {
    if (end > at) f(at, end);
    at = std::max(at, end);
  };
  emit(end_before(map.range.min));
  for (int c = 1; c <= columns && at < w.last; ++c) {
    emit(end_before(map.value(map.from + direction * static_cast<float>(c))));
  }
  emit(w.last);
}

struct PixelColumn {
  std::size_t first, lowest, highest, last;
  bool any = false;
};

PixelColumn summarise(std::span<const double> y, std::size_t from, std::size_t to, double floor,
                      const Extremes& extremes) {
  PixelColumn c{from, from, from, from};
  const std::optional<LowHigh> found = extremes.of(y, from, to, floor);
  c.any = found.has_value();
  if (!c.any) return c;
  c.lowest = found->lowest;
  c.highest = found->highest;
  const auto shown = [&](std::size_t i) { return y[i] > floor && y[i] < kInf; };
  while (!shown(c.first)) ++c.first;
  c.last = to - 1;
  while (!shown(c.last)) --c.last;
  return c;
}

}  // namespace

Window visible_window(std::span<const double> x, const Range& range) {
  const auto first = std::lower_bound(x.begin(), x.end(), range.min);
  const auto last = std::upper_bound(first, x.end(), range.max);
  Window w{static_cast<std::size_t>(first - x.begin()), static_cast<std::size_t>(last - x.begin())};
  if (w.first > 0) --w.first;
  if (w.last < x.size()) ++w.last;
  return w;
}

Thinned thin(std::span<const double> x, std::span<const double> y, const AxisMap& map,
             Scale y_scale, const Extremes* extremes) {
  const std::size_t n = std::min(x.size(), y.size());
  x = x.first(n);
  y = y.first(n);
  const Extremes none;  // indexes nothing: the values are read one by one
  const Extremes& known = extremes != nullptr ? *extremes : none;
  const Window w = visible_window(x, map.range);
  const auto columns = static_cast<std::size_t>(columns_of(map));
  // Values that cannot be shown: -inf, and on a log axis 0 and below.
  const double floor = y_scale == Scale::Linear ? -kInf : 0.0;
  Thinned out;
  const auto show = [&out](double at, double value) {
    out.points.push_back({at, value});
    if (!out.y) out.y = Range{value, value};
    out.y->min = std::min(out.y->min, value);
    out.y->max = std::max(out.y->max, value);
  };
  if (w.last - w.first <= 2 * columns) {
    out.points.reserve(w.last - w.first);
    for (std::size_t i = w.first; i < w.last; ++i) {
      if (can_show(y_scale, y[i])) {
        show(x[i], y[i]);
      } else {
        out.points.push_back({x[i], kNaN});
      }
    }
    return out;
  }
  out.dense = true;
  out.points.reserve(4 * columns + 8);
  for_each_column(x, w, map, [&](std::size_t from, std::size_t to) {
    const PixelColumn c = summarise(y, from, to, floor, known);
    if (!c.any) {
      out.points.push_back({x[from], kNaN});
      return;
    }
    std::array order{c.first, c.lowest, c.highest, c.last};
    std::sort(order.begin(), order.end());
    const auto end = std::unique(order.begin(), order.end());
    for (auto i = order.begin(); i != end; ++i) show(x[*i], y[*i]);
  });
  return out;
}

std::shared_ptr<const Thinned> GrowingSeries::thinned(std::span<const double> x,
                                                      std::span<const double> y, const AxisMap& map,
                                                      Scale y_scale) {
  constexpr std::size_t kLong = 8192;  // shorter series are read one by one
  const std::size_t size = std::min(x.size(), y.size());
  const bool same = x.data() == x_ && size == size_ && map == map_ && y_scale == y_scale_;
  if (thinned_ && same) return thinned_;
  if (size >= kLong) extremes_.follow(y);
  thinned_ = std::make_shared<const Thinned>(
      thin(x, y, map, y_scale, size >= kLong ? &extremes_ : nullptr));
  x_ = x.data();
  size_ = size;
  map_ = map;
  y_scale_ = y_scale;
  return thinned_;
}

std::vector<BandPoint> thin_band(std::span<const double> x, std::span<const double> low,
                                 std::span<const double> high, const AxisMap& map) {
  const std::size_t n = std::min({x.size(), low.size(), high.size()});
  x = x.first(n);
  const Window w = visible_window(x, map.range);
  std::vector<BandPoint> out;
  if (w.last - w.first <= 2 * static_cast<std::size_t>(columns_of(map))) {
    for (std::size_t i = w.first; i < w.last; ++i) out.push_back({x[i], low[i], high[i]});
    return out;
  }
  for_each_column(x, w, map, [&](std::size_t from, std::size_t to) {
    BandPoint p{x[from], kInf, -kInf};
    for (std::size_t i = from; i < to; ++i) {
      p.low = std::min(p.low, std::isnan(low[i]) ? kInf : low[i]);
      p.high = std::max(p.high, std::isnan(high[i]) ? -kInf : high[i]);
    }
    if (!(p.low <= p.high)) p.low = p.high = kNaN;
    out.push_back(p);
  });
  return out;
}

}  // namespace lab::ui::plot
