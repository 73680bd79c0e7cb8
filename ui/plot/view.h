#pragma once
// The map between data and pixels along one axis, and the arithmetic of pan and zoom. Pure.
#include <optional>

#include "ui/plot/plot_state.h"

namespace lab::ui::plot {

// A value in the space where the axis is even: itself, or its logarithm. Not finite for values that
// a log axis cannot show.
double to_even(Scale scale, double value);
double from_even(Scale scale, double even);

// Drawable: finite, and positive on a log axis.
bool can_show(Scale scale, double value);

struct AxisMap {
  Scale scale = Scale::Linear;
  Range range;             // what is shown; drawable ends, min < max
  float from = 0, to = 1;  // pixels of range.min and range.max

  float pixel(double value) const;
  double value(float pixel) const;
};

// The range grown until it can be shown: never empty, never reversed, finite, positive on a log
// axis.
Range sane(Scale scale, Range range);

// Zooms by `factor` (< 1 closer) around `anchor`, which stays at its pixel. Never narrower than
// double can tell apart, never wider than double holds.
Range zoomed(Scale scale, Range range, double anchor, double factor);

// Moved by a share of its width; positive moves to larger values.
Range panned(Scale scale, Range range, double share);

// Collects values and says what range shows them all.
class Extent {
 public:
  explicit Extent(Scale scale) : scale_(scale) {}
  void add(double value);
  bool empty() const { return !seen_; }
  Range raw() const { return {min_, max_}; }
  // With `margin` (share of the width) on both sides; a single value gets room around it. `anchor`
  // true: a linear range that nearly reaches 0 starts there.
  Range padded(double margin, bool anchor_zero) const;

 private:
  Scale scale_;
  bool seen_ = false;
  double min_ = 0, max_ = 0;
};

}  // namespace lab::ui::plot
