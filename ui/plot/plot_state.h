#pragma once
// State of a plot between frames: the view that the user chose, and the hidden series.
#include <imgui.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "ui/plot/axis.h"
#include "ui/plot/decimate.h"
#include "ui/plot/line_pixels.h"

namespace lab::ui::plot {

// What one frame leaves to the next of a series that only grows.
struct KeptSeries {
  GrowingSeries thinned;
  KeptPixels pixels;
};

struct PlotState {
  std::optional<Range> x, y;              // empty: follow the data
  std::optional<Scale> x_scale, y_scale;  // empty: as the caller requests
  std::set<std::string> hidden;           // legend entries switched off
  bool panning = false, boxing = false;
  ImVec2 box_start{0, 0};
  bool show_data = false;
  bool whole_legend = false;               // on several lines, if it needs them
  std::map<std::string, KeptSeries> kept;  // the visible ones, by append_key
};

// A cursor shared by the plots of a page: hovering over one shows the same x in the others.
struct LinkedCursor {
  std::optional<double> x;     // from the previous frame, drawn by all plots
  std::optional<double> next;  // collected during this frame
  void begin_frame() {
    x = next;
    next.reset();
  }
};

}  // namespace lab::ui::plot
