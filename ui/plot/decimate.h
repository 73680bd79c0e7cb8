#pragma once
// Reduces a long series to what a plot of limited pixel width can show. No ImGui.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ui/plot/axis.h"

namespace lab::ui::plot {

// The lowest and the highest value of a range.
struct LowHigh {
  std::size_t lowest = 0, highest = 0;  // positions
};

// Extremes per block of an append-only series: a query for any range of a million points reads a
// few dozen values.
class Extremes {
 public:
  // Indexes what was appended to `y` since the last call; a shorter `y` starts over.
  void follow(std::span<const double> y);

  // Extremes of the finite values of y[from..to) above `floor`; nullopt if there are none. `y` is
  // the series followed last.
  std::optional<LowHigh> of(std::span<const double> y, std::size_t from, std::size_t to,
                            double floor) const;

 private:
  std::vector<std::optional<LowHigh>> small_, large_;  // complete blocks, large of small ones
};

struct Point {
  double x = 0, y = 0;  // y NaN: the line breaks here
};

struct BandPoint {
  double x = 0, low = 0, high = 0;  // NaN: the band breaks here
};

struct Thinned {
  std::vector<Point> points;
  bool dense = false;  // several points per pixel column: no markers, no dashes between points
  std::optional<Range> y = {};  // lowest and highest y; empty: no point can be shown
};

// Points [first, last) of `x` that are inside the visible range, plus one neighbour on each side so
// that lines reach the edges of the plot. x must ascend.
struct Window {
  std::size_t first = 0, last = 0;
};
Window visible_window(std::span<const double> x, const Range& range);

// Keeps at most about four points per pixel column of `map`: the first, the lowest, the highest and
// the last, in their original order, so that no column loses its minimum or maximum. If the window
// holds few points, all are kept. Values that `y_scale` cannot show break the line. Costs a binary
// search per column and one pass over the window; `extremes`, if it follows `y`, saves the pass.
Thinned thin(std::span<const double> x, std::span<const double> y, const AxisMap& map,
             Scale y_scale, const Extremes* extremes = nullptr);

// A series that only grows, thinned anew when it has grown or the view has changed.
class GrowingSeries {
 public:
  // As thin(). `y` contains that of the last call, followed by new values. `x` likewise, unless it
  // is another array.
  std::shared_ptr<const Thinned> thinned(std::span<const double> x, std::span<const double> y,
                                         const AxisMap& map, Scale y_scale);

 private:
  Extremes extremes_;
  // Arguments of the last call and their result.
  const double* x_ = nullptr;
  std::size_t size_ = 0;
  AxisMap map_;
  Scale y_scale_ = Scale::Linear;
  std::shared_ptr<const Thinned> thinned_;
};

// The widest extent of the band per column.
std::vector<BandPoint> thin_band(std::span<const double> x, std::span<const double> low,
                                 std::span<const double> high, const AxisMap& map);

}  // namespace lab::ui::plot
