#pragma once
// One plot in one frame: its content and layout. Internal to ui/plot.
#include <imgui.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/axis.h"
#include "ui/plot/decimate.h"
#include "ui/plot/line_pixels.h"
#include "ui/plot/plot.h"

namespace lab::ui::plot {

struct Box {
  ImVec2 min{0, 0}, max{0, 0};
};

struct Curve {
  const Series* series = nullptr;
  std::size_t index = 0;  // index in the caller's span
  std::shared_ptr<const Thinned> line;
  std::shared_ptr<const LinePixels> pixels;  // null: bars
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
  ImVec2 area_min{0, 0}, area_max{0, 0};  // the data area
  AxisMap x, y;
  Ticks x_ticks, y_ticks;
  std::vector<Curve> curves;       // visible series with something to draw
  std::optional<std::string> lit;  // legend entry under the pointer
  bool hovered = false;            // the pointer is over the data area
  bool empty() const { return curves.empty(); }
  static const std::string& entry_of(const Series& s) {
    return s.group.empty() ? s.label : s.group;
  }
  // True if the series belongs to that entry of the legend.
  static bool belongs(const Series& s, std::string_view entry) { return entry_of(s) == entry; }
  // Without a legend, a series that one had hidden could not be shown again.
  bool shown(const Series& s) const {
    return !options.legend || !state.hidden.contains(entry_of(s));
  }
  ImFont* small_font() const { return ui.fonts.caption; }
};

// --- drawing, from back to front ------------------------------------------------------------
void draw_grid(const Frame& f);
void draw_curves(const Frame& f);
void draw_bands(const Frame& f);
std::vector<Box> draw_references(const Frame& f);         // returns the places of their labels
void draw_marks(const Frame& f, std::vector<Box> taken);  // `taken`: by other labels
void draw_notes(const Frame& f);
void draw_line_labels(const Frame& f);
void draw_axis_text(const Frame& f);
void draw_cursor(const Frame& f);
// Draws a solid or broken line through `points`; patterns continue across corners.
void draw_path(ImDrawList* list, std::span<const ImVec2> points, ImU32 color, Line line,
               float width, float unit);
// Draws the sample of a series for the legend and the tooltip.
void draw_swatch(const Frame& f, const Series& s, ImVec2 left_middle, float width, ImU32 color);

// --- labels on curves -----------------------------------------------------------------------
struct LineLabel {
  std::span<const ImVec2> path;  // the line it belongs to, in pixels
  ImVec2 size{0, 0};             // of the label
};

bool crosses(const Box& box, ImVec2 a, ImVec2 b);

// For each label, returns the box centred on the point of its line where it covers the fewest other
// lines and points, the first such point if there are several. A box is inside `area` and overlaps
// no earlier label; nullopt if there is no space. `lines` are all lines of the plot, including the
// labels' own.
std::vector<std::optional<Box>> place_line_labels(std::span<const LineLabel> labels,
                                                  std::span<const std::span<const ImVec2>> lines,
                                                  const Box& area);

// Returns the first box along a reference line at height `line` that covers none of `lines` and is
// not `taken`: at `preferred`, else on the other side of the line or further from it, else
// moved to the right by `step`. If there is none, the box that covers the fewest lines. A line is
// given by its strokes in ascending columns, whose number does not grow with the line's points.
Box place_reference_label(const Box& preferred, float line, float step, const Box& area,
                          std::span<const std::vector<Stroke>> lines, std::span<const Box> taken);
// Returns the highest box of `size` pixels beside the vertical line at `line`, to its right if
// there is room, that covers none of `lines` and is not `taken`; else the one that covers the
// fewest.
std::optional<Box> place_mark_label(ImVec2 size, float line, float gap, const Box& area,
                                    std::span<const std::vector<Stroke>> lines,
                                    std::span<const Box> taken);

// --- mouse and menu -------------------------------------------------------------------------
// Pan, zoom, box zoom and reset by mouse; opens the menu. Changes take effect in the next frame.
void interact(Frame& f);
void draw_box(const Frame& f);

// The tooltip of the nearest point.
void tooltip(Frame& f);

// The context menu, and the data table that it opens.
void menu(Frame& f, Commands& out);
void data_table(Frame& f);

}  // namespace lab::ui::plot
