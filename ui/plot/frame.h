#pragma once
// One plot in one frame: what is drawn where. Shared by the files of ui/plot only.
#include <imgui.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/axis.h"
#include "ui/plot/decimate.h"
#include "ui/plot/plot.h"

namespace lab::ui::plot {

struct Curve {
  const Series* series = nullptr;
  std::size_t index = 0;  // in the caller's span
  Thinned line;
  std::vector<BandPoint> band;
};

struct Frame {
  Ui& ui;
  std::string path;
  const Axes& axes;
  std::span<const Series> series;
  const Options& options;
  PlotState& state;

  ImVec2 min{0, 0}, max{0, 0};            // the widget
  ImVec2 area_min{0, 0}, area_max{0, 0};  // where the data is
  AxisMap x, y;
  Ticks x_ticks, y_ticks;
  std::vector<Curve> curves;       // shown ones, with something to draw
  std::optional<std::string> lit;  // entry under the pointer in the legend
  bool hovered = false;            // the pointer is over the data area
  bool empty() const { return curves.empty(); }
  static const std::string& entry_of(const Series& s) {
    return s.group.empty() ? s.label : s.group;
  }
  // Whether the series goes with that entry of the legend.
  static bool belongs(const Series& s, std::string_view entry) {
    return entry_of(s) == entry || (!s.family.empty() && s.family == entry);
  }
  bool shown(const Series& s) const {
    return !state.hidden.contains(entry_of(s)) && !state.hidden.contains(s.family);
  }
  ImFont* small_font() const { return ui.fonts.caption; }
};

// --- drawing, from back to front ------------------------------------------------------------
void draw_grid(const Frame& f);
void draw_curves(const Frame& f);
void draw_references(const Frame& f);
void draw_notes(const Frame& f);
void draw_line_labels(const Frame& f);
void draw_axis_text(const Frame& f);
void draw_cursor(const Frame& f);
void draw_marker(ImDrawList* list, Marker marker, ImVec2 at, float radius, ImU32 color, ImU32 back,
                 bool hollow = false);
// Solid or broken through `points`, whose patterns run on across corners.
void draw_path(ImDrawList* list, std::span<const ImVec2> points, ImU32 color, Line line,
               float width, float unit);
// The sample of a series as legend and tooltip show it.
void draw_swatch(const Frame& f, const Series& s, ImVec2 left_middle, float width, ImU32 color);

// --- labels on curves -----------------------------------------------------------------------
struct LineLabel {
  std::span<const ImVec2> path;  // the label's own line, in pixels
  ImVec2 size{0, 0};             // of the label
};

struct Box {
  ImVec2 min{0, 0}, max{0, 0};
};

bool crosses(const Box& box, ImVec2 a, ImVec2 b);

// For each label the box centred on that point of its line where it covers the fewest other lines
// and points, the earliest such point; it lies inside `area` and on no label before it. Empty:
// there is no room. `lines` are all lines of the plot, the labels' own among them.
std::vector<std::optional<Box>> place_line_labels(std::span<const LineLabel> labels,
                                                  std::span<const std::span<const ImVec2>> lines,
                                                  const Box& area);

// --- mouse and menu -------------------------------------------------------------------------
// Pan, zoom, box and reset by mouse; opens the menu. Changes show in the next frame.
void interact(Frame& f);
void draw_box(const Frame& f);

// The tooltip of the nearest point.
void tooltip(Frame& f);

// The right-click menu and the table of data that it opens.
void menu(Frame& f, Commands& out);
void data_table(Frame& f);

}  // namespace lab::ui::plot
