#pragma once
// One axis of a plot: the map between data and pixels, the arithmetic of pan and zoom, and the
// positions and texts of its ticks. No ImGui.
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

// --- ticks ----------------------------------------------------------------------------------
struct Tick {
  double value = 0;
  std::string label;  // empty for minor ticks
  bool major = false;
};

struct TickRequest {
  Scale scale = Scale::Linear;
  Range range;
  double max_labels = 6;  // about so many labels fit
  std::string_view unit = {};
  bool binary = false;  // KiB, MiB, GiB
  bool whole = false;   // no fractions
};

struct Ticks {
  std::vector<Tick> ticks;  // ascending, all inside the range
  std::string unit;         // what the axis says: "GFLOP/s", "s", "" ; ticks are in this unit
};

// Linear: steps of 1, 2, 5 x 10^n (1, 2, 4 ... for binary), one SI prefix for the whole axis.
// Log10: decades with minor ticks at 2..9, fewer decades when they crowd, linear steps within less
// than about one decade. Log2: powers of two, every k-th when they crowd.
Ticks make_ticks(const TickRequest& request);

// One value as a person reads it off an axis: up to five significant digits, SI or binary prefix.
std::string axis_text(double value, std::string_view unit, bool binary, bool whole);

}  // namespace lab::ui::plot
