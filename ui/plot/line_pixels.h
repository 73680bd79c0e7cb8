#pragma once
// A thinned line in pixels, as it is drawn. Computed once and kept while neither the line nor the
// view changes.
#include <imgui.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ui/plot/axis.h"
#include "ui/plot/decimate.h"

namespace lab::ui::plot {

// The part of a pixel column that a line covers.
struct Stroke {
  float column = 0, low = 0, high = 0;
};

struct LinePixels {
  std::vector<ImVec2> points;         // of all unbroken runs, one after the other
  std::vector<std::size_t> run_ends;  // for each run: the position after its last point
  // If the line oscillates within a pixel, where an anti-aliased line would fade: the columns that
  // its runs of several points cover. Otherwise empty.
  std::vector<Stroke> strokes;
};

// `steps`: each value holds until the next point.
LinePixels line_pixels(const Thinned& line, const AxisMap& x, const AxisMap& y, bool steps);

// Returns the strokes of an unbroken line whose x ascend, for the columns of from..to: one for each
// column that the line crosses, each touching its neighbours.
std::vector<Stroke> envelope(std::span<const ImVec2> line, float from, float to);

// The pixels of the line that was drawn last.
class KeptPixels {
 public:
  std::shared_ptr<const LinePixels> of(std::shared_ptr<const Thinned> line, const AxisMap& x,
                                       const AxisMap& y, bool steps);

 private:
  // Arguments of the last call and their result.
  std::shared_ptr<const Thinned> line_;
  AxisMap x_, y_;
  bool steps_ = false;
  std::shared_ptr<const LinePixels> pixels_;
};

}  // namespace lab::ui::plot
