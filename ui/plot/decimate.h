#pragma once
// Thins a long series to what a plot of some pixels can show. No ImGui.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ui/plot/axis.h"

namespace lab::ui::plot {

// Lowest and highest values of the blocks of a series that only grows: a query for any range of a
// million points reads a few dozen of them.
struct LowHigh {
  std::size_t lowest = 0, highest = 0;  // positions
};

class Extremes {
 public:
  // Takes in what was appended to `y` since the last call; a shorter `y` starts over.
  void follow(std::span<const double> y);

  // Among the finite values of y[from..to) above `floor`; none: there is no such value. `y` is the
  // one followed last.
  std::optional<LowHigh> of(std::span<const double> y, std::size_t from, std::size_t to,
                            double floor) const;

 private:
  std::vector<std::optional<LowHigh>> small_, large_;  // whole blocks, the large of small ones
};

struct Point {
  double x = 0, y = 0;  // y NaN: the line is broken here
};

struct BandPoint {
  double x = 0, low = 0, high = 0;  // NaN: broken
};

struct Thinned {
  std::vector<Point> points;
  bool dense = false;  // several points share a pixel column: no markers, no dashes between points
};

// The points of the window [first, last) of `x` that touch `map.range`, with one neighbour on each
// side so that lines leave the plot properly. x must ascend.
struct Window {
  std::size_t first = 0, last = 0;
};
Window visible_window(std::span<const double> x, const Range& range);

// At most about four points for each pixel column of `map`: the first, the lowest, the highest and
// the last, in the order in which they come. No minimum or maximum of any column is ever lost. When
// the window holds few points they are all kept. Values that `y_scale` cannot show break the line.
// Costs a binary search for each column and one pass over the window, which `extremes`, when it
// follows `y`, spares.
Thinned thin(std::span<const double> x, std::span<const double> y, const AxisMap& map,
             Scale y_scale, const Extremes* extremes = nullptr);

// The widest band of each column.
std::vector<BandPoint> thin_band(std::span<const double> x, std::span<const double> low,
                                 std::span<const double> high, const AxisMap& map);

}  // namespace lab::ui::plot
