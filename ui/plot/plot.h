#pragma once
// The lab's plot widget, drawn on ImDrawList: linear and log axes, SI ticks, pan (drag), zoom
// (Ctrl+wheel; without Ctrl the wheel scrolls the page), box zoom (right drag), reset
// (double-click), legend toggles, nearest-point tooltip, min/max decimation, error bands, reference
// lines, shared cursor, and CSV and PNG export from the context menu.
//
// Recorded widgets: "<path>" (kind "plot", value: the visible ranges as "x 0..10 y 0..1"),
// "<path>/legend/<label>" (kind "toggle", value: "shown" or "hidden"), "<path>/whole_legend" (of a
// legend that needs more than a line: "+3", or "less"), "<path>/band/<label>",
// "<path>/mark/<index>", "<path>/reference/<index>", "<path>/tooltip" (value: the text), and while
// the menu is open "<path>/menu/reset", ".../log-x", "log-y", "show-data", "copy-csv", "save-csv",
// "save-png". Keyboard: Enter on the plot opens the menu.
#include <imgui.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/command.h"
#include "ui/plot/plot_state.h"
#include "ui/ui.h"

namespace lab::ui::plot {

struct Axis {
  std::string_view label = {};  // "size N"
  Scale scale = Scale::Linear;
  // "FLOP/s": on a linear axis one prefix applies to all ticks and the title shows "GFLOP/s"; on a
  // log axis each tick has its own prefix and unit ("1 kB/s", "100 kB/s", "10 MB/s").
  std::string_view unit = {};
  bool binary = false;                       // ticks in KiB, MiB, GiB
  std::optional<double> min = {}, max = {};  // fixed ends, if set; otherwise they follow the data
  bool whole = false;                        // whole numbers only (steps, sizes)
  bool percent = false;                      // shares, shown in percent
  std::string_view zero = {};                // label of the tick at 0 ("now"); empty: "0"
  std::string_view tick_unit = {};           // after the other ticks of a horizontal axis ("min")
  // The labels of a vertical axis have at least the width of this text, so that the areas of plots
  // side by side are equally wide.
  std::string_view room_for = {};
};

struct Axes {
  Axis x = {}, y = {};
};

enum class Line { Solid, Dashed, Dotted, DashDot };
enum class Marker { None, Circle, Square, Triangle, Wedge, Diamond, Cross };

struct Series {
  std::string label = {};
  ImU32 color = 0;
  Line line = Line::Solid;
  Marker marker = Marker::None;
  bool hollow = false;  // of the marker
  float width = 1.8F;   // units
  float alpha = 1;      // below 1 for raw data behind a smoothed line
  bool steps = false;   // each value holds until the next one
  // Series of one group share a legend entry, which shows the first of them; empty: no group.
  std::string group = {};
  // Points under one key are only ever appended, so that a long series is summarised once. Empty:
  // any value may change from frame to frame.
  std::string append_key = {};
  bool in_legend = true;
  bool only_key = false;  // no points: its legend entry explains a kind of line and hides nothing
  bool bars = false;      // vertical bars from 0 instead of a line
  std::string note = {};  // text beside its last point ("prediction")
  std::string line_label = {};                  // placed on the line where it covers least
  std::span<const double> x = {}, y = {};       // x ascending; NaN breaks the line
  std::span<const double> low = {}, high = {};  // error band, or empty
  // Points that differ from 0 get a ring in the warning colour and, with a band, a whisker; empty:
  // none.
  std::span<const double> unsteady = {};
  bool band = true;       // whether it is drawn; the axis has room for it
  bool whiskers = false;  // it is drawn as one bar per point
  // Tooltip with full statistics of point i; empty: "label  y at x".
  std::function<std::string(std::size_t i)> describe = {};
};

struct Reference {
  std::string label = {};  // "measured peak"
  double y = 0;
  ImU32 color = 0;
  Line line = Line::Dashed;
  // Above the line unless set, for curves that come from above.
  bool label_below = false;
};

// Something that happened at x, as a vertical line.
struct Mark {
  double x = 0;
  std::string label = {};
};

// A range of x between the end of the band before it, or the start of the axis, and `to`. A label
// may extend over neighbours that have none.
struct Band {
  std::string label = {};  // "L2"
  double to = 0;           // infinity for the last one
  std::string hint = {};   // over the label
};

struct Options {
  float height = 0;    // units; 0: the remaining height
  bool grows = false;  // taller if its card has space below
  LinkedCursor* cursor = nullptr;
  std::span<const Reference> references = {};
  std::span<const Mark> marks = {};
  std::span<const Band> bands = {};  // ascending; labelled, with a line at each end
  std::string_view empty_text = {};  // shown in the centre if there is no data
  bool legend = true;
  bool lists_all = false;  // the tooltip has the values of all curves at the point, if several
  bool dimmed = false;
};

// Draws the plot under `path` and records it as a widget. Menu choices with an effect outside the
// window (CSV, PNG) are appended to `out` as SaveText or SavePlotPng.
void draw(Ui& ui, std::string_view path, const Axes& axes, std::span<const Series> series,
          const Options& options, Commands& out);

// The marker of a series, beside its name outside the plot. `back`: the colour behind it.
void draw_marker(ImDrawList* list, Marker marker, ImVec2 at, float radius, ImU32 color, ImU32 back,
                 bool hollow = false);

// Returns "x,series,y,low,high" lines for every point of every series, including hidden ones.
std::string to_csv(const Axes& axes, std::span<const Series> series);

// Returns "<path with dashes>.<extension>" in the home directory, otherwise in the current one.
std::string save_file(std::string_view path, std::string_view extension);

}  // namespace lab::ui::plot
