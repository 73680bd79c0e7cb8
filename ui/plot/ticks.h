#pragma once
// Where an axis has its ticks and what they say. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/plot_state.h"

namespace lab::ui::plot {

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
