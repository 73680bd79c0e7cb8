#include "ui/plot/view.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab::ui::plot {
namespace {

constexpr double kLargest = 1e300;
constexpr double kSmallestPositive = 1e-300;

double clamped(Scale scale, double value) {
  if (std::isnan(value)) return scale == Scale::Linear ? 0 : 1;
  if (scale == Scale::Linear) return std::clamp(value, -kLargest, kLargest);
  return std::clamp(value, kSmallestPositive, kLargest);
}

// The narrowest window around `at` (in even space) in which ticks still differ.
double narrowest(Scale scale, double at) {
  return std::max(std::abs(at), scale == Scale::Linear ? 1e-285 : 1.0) * 1e-12;
}

Range from_even_range(Scale scale, double lo, double hi) {
  return sane(scale, {from_even(scale, lo), from_even(scale, hi)});
}

}  // namespace

double to_even(Scale scale, double value) {
  switch (scale) {
    case Scale::Log10: return std::log10(value);
    case Scale::Log2: return std::log2(value);
    case Scale::Linear: break;
  }
  return value;
}

double from_even(Scale scale, double even) {
  switch (scale) {
    case Scale::Log10: return std::pow(10.0, even);
    case Scale::Log2: return std::exp2(even);
    case Scale::Linear: break;
  }
  return even;
}

bool can_show(Scale scale, double value) {
  return std::isfinite(value) && (scale == Scale::Linear || value > 0);
}

float AxisMap::pixel(double value) const {
  const double lo = to_even(scale, range.min), hi = to_even(scale, range.max);
  const double share = (to_even(scale, value) - lo) / (hi - lo);
  // Far outside is as good as off screen, and keeps float arithmetic in the renderer exact.
  const double at = from + std::clamp(share, -50.0, 50.0) * (to - from);
  return static_cast<float>(at);
}

double AxisMap::value(float pixel) const {
  const double lo = to_even(scale, range.min), hi = to_even(scale, range.max);
  const double share = (pixel - from) / static_cast<double>(to - from);
  return from_even(scale, lo + share * (hi - lo));
}

Range sane(Scale scale, Range range) {
  range.min = clamped(scale, range.min);
  range.max = clamped(scale, range.max);
  if (range.min > range.max) std::swap(range.min, range.max);
  const double lo = to_even(scale, range.min), hi = to_even(scale, range.max);
  const double middle = lo + (hi - lo) / 2;
  if (hi - lo >= narrowest(scale, middle)) return range;
  const double half = narrowest(scale, middle);
  return {from_even(scale, middle - half), from_even(scale, middle + half)};
}

Range zoomed(Scale scale, Range range, double anchor, double factor) {
  const double lo = to_even(scale, range.min), hi = to_even(scale, range.max);
  const double at = to_even(scale, clamped(scale, anchor));
  const double next_lo = at + (lo - at) * factor, next_hi = at + (hi - at) * factor;
  if (factor < 1 && next_hi - next_lo < 4 * narrowest(scale, at)) return range;
  if (!std::isfinite(next_hi - next_lo)) return range;
  return from_even_range(scale, next_lo, next_hi);
}

Range panned(Scale scale, Range range, double share) {
  const double lo = to_even(scale, range.min), hi = to_even(scale, range.max);
  const double by = (hi - lo) * share;
  return from_even_range(scale, lo + by, hi + by);
}

void Extent::add(double value) {
  if (!can_show(scale_, value)) return;
  min_ = seen_ ? std::min(min_, value) : value;
  max_ = seen_ ? std::max(max_, value) : value;
  seen_ = true;
}

Range Extent::padded(double margin, bool anchor_zero) const {
  if (!seen_) return scale_ == Scale::Linear ? Range{0, 1} : Range{1, 10};
  const double lo = to_even(scale_, clamped(scale_, min_));
  const double hi = to_even(scale_, clamped(scale_, max_));
  const double width = hi - lo;
  if (width <= narrowest(scale_, std::max(std::abs(lo), std::abs(hi)))) {
    if (scale_ != Scale::Linear) return from_even_range(scale_, lo - 0.5, hi + 0.5);
    if (lo == 0) return {0, 1};
    const double room = std::abs(lo) / 2;
    return sane(scale_, {lo - room, hi + room});
  }
  double low = lo - width * margin, high = hi + width * margin;
  if (scale_ == Scale::Linear && anchor_zero) {
    if (min_ >= 0 && min_ <= 0.5 * max_) low = 0;
    if (max_ <= 0 && max_ >= 0.5 * min_) high = 0;
  }
  return from_even_range(scale_, low, high);
}

}  // namespace lab::ui::plot
