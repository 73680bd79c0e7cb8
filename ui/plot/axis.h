#pragma once
// One axis of a plot: the mapping between data and pixels, the arithmetic of pan and zoom, and tick
// positions and labels. No ImGui.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab::ui::plot {

enum class Scale { Linear, Log10, Log2 };

struct Range {
  double min = 0, max = 1;
  bool operator==(const Range&) const = default;
};

// Maps a value to the space in which the axis is linear: the value itself, or its logarithm. The
// result is not finite for values that a log axis cannot show.
double to_linear(Scale scale, double value);
double from_linear(Scale scale, double even);

// True if the value is drawable: finite, and positive on a log axis.
bool can_show(Scale scale, double value);

struct AxisMap {
  Scale scale = Scale::Linear;
  Range range;             // visible range; drawable ends, min < max
  float from = 0, to = 1;  // pixels of range.min and range.max

  float pixel(double value) const;
  double value(float pixel) const;
  bool operator==(const AxisMap&) const = default;
};

// AxisMap::pixel() for many values of one map.
class Pixels {
 public:
  explicit Pixels(const AxisMap& map);
  float operator()(double value) const;

 private:
  Scale scale_;
  double low_, share_;    // of the linear space: its start, and the inverse of its width
  double from_, length_;  // pixels
};

// Returns the least 1, 2 or 5 times a power of ten that is not below `at_least`, up to rounding.
double decimal_step(double at_least);

// Returns the nearest range that can be shown: not empty, not reversed, finite, and positive on a
// log axis.
Range showable_range(Scale scale, Range range);

// Zooms by `factor` (< 1 zooms in) around `anchor`, which stays at its pixel. The width is limited
// to what double can resolve and represent.
Range zoomed(Scale scale, Range range, double anchor, double factor);

// Moves the range by a share of its width; positive moves to larger values.
Range panned(Scale scale, Range range, double share);

// Accumulates values and returns the range that shows them all.
class Extent {
 public:
  explicit Extent(Scale scale) : scale_(scale) {}
  void add(double value);
  bool empty() const { return !seen_; }
  Range raw() const { return {min_, max_}; }
  // The range with `margin` (share of the width) on both sides; a single value gets space around
  // it. With `anchor_zero`, a linear range that nearly reaches 0 starts there.
  Range padded(double margin, bool anchor_zero) const;

 private:
  Scale scale_;
  bool seen_ = false;
  double min_ = 0, max_ = 0;
};

// --- ticks ----------------------------------------------------------------------------------
struct Tick {
  double value = 0;
  std::string label;  // empty for minor ticks
  bool major = false;
};

struct TickRequest {
  Scale scale = Scale::Linear;
  Range range;
  double max_labels = 6;  // approximate number of labels that fit
  std::string_view unit = {};
  bool binary = false;   // KiB, MiB, GiB
  bool whole = false;    // no fractional ticks
  bool percent = false;  // of shares, labelled in percent
};

struct Ticks {
  std::vector<Tick> ticks;  // ascending, all inside the range
  // In the axis title: "GFLOP/s", "s"; empty if the labels themselves have the unit ("10 ms").
  std::string unit;
};

// Linear: steps of 1, 2, 5 x 10^n (1, 2, 4 ... if binary), one SI prefix for the whole axis. Log10:
// decades with minor ticks at 2..9, fewer if labels overlap, linear steps below about one
// decade. Log2: powers of two, every k-th if they crowd. On log axes each label has its own prefix
// and then its unit.
Ticks make_ticks(const TickRequest& request);

// The label of a tick, "-10 min", or `zero` at 0; each may be empty. A minor tick has none.
std::string tick_text(const Tick& tick, std::string_view zero, std::string_view unit);

// One value formatted as on an axis: up to five significant digits, SI or binary prefix.
std::string axis_text(double value, std::string_view unit, bool binary, bool whole);

}  // namespace lab::ui::plot
