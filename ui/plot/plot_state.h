#pragma once
// What a plot remembers between frames: the view the person chose and which series are hidden.
#include <imgui.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "ui/plot/axis.h"
#include "ui/plot/decimate.h"

namespace lab::ui::plot {

struct PlotState {
  std::optional<Range> x, y;              // empty: follow the data
  std::optional<Scale> x_scale, y_scale;  // empty: as the caller asks
  std::set<std::string> hidden;           // legend entries switched off
  bool panning = false, boxing = false;
  ImVec2 box_start{0, 0};
  bool show_data = false;
  std::map<std::string, Extremes> extremes;  // of the series on show, by append_key
};

// A cursor shared by the charts of a page: hovering one shows the same x in the others.
struct LinkedCursor {
  std::optional<double> x;     // of the previous frame, drawn by all
  std::optional<double> next;  // collected during this frame
  void begin_frame() {
    x = next;
    next.reset();
  }
};

}  // namespace lab::ui::plot
