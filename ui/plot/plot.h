#pragma once
// The lab's plot widget, drawn on ImDrawList: linear and log axes, SI ticks, pan (drag), zoom
// (Ctrl+wheel; the wheel alone scrolls the page), box zoom (right drag), double-click reset, legend
// toggles, nearest-point tooltip, min/max decimation, error bands, reference lines, shared cursor,
// CSV and PNG export by right click.
//
// Recorded widgets: "<path>" (kind "plot", its value the ranges on screen as "x 0..10 y 0..1"),
// "<path>/legend/<label>" (kind "toggle", value "shown" or "hidden"), "<path>/tooltip" (its value
// the text), and while the menu is open "<path>/menu/reset", ".../log-x", "log-y", "show-data",
// "copy-csv", "save-csv", "save-png". By keyboard: Enter on the plot opens the menu.
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
  // "FLOP/s": on a linear axis one prefix serves all ticks and the axis says "GFLOP/s"; on a log
  // axis the ticks carry their own ("1 k", "100 k", "10 M").
  std::string_view unit = {};
  bool binary = false;  // ticks in KiB, MiB, GiB
  std::optional<double> min = {},
                        max = {};  // fixed ends where asked for; else they follow the data
  bool whole = false;              // whole numbers only (steps, sizes)
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
  float alpha = 1;      // pale raw data behind a smoothed line
  bool steps = false;   // each value holds until the next one
  // Series of one group share an entry of the legend, which shows the first of them; empty: alone.
  std::string group = {};
  // Series of one family have their color in common and another entry of the legend, a bare line of
  // that color; the entries of their groups then show marker and dash alone.
  std::string family = {};
  // Under one key points are only ever appended, so that a long series is summarised once. Empty:
  // anything may change from frame to frame.
  std::string append_key = {};
  bool in_legend = true;
  bool bars = false;                            // vertical bars from 0 instead of a line
  std::string note = {};                        // a word beside its last point ("prediction")
  std::string line_label = {};                  // stands on the line where it covers least
  std::span<const double> x = {}, y = {};       // x ascending; NaN breaks the line
  std::span<const double> low = {}, high = {};  // error band, or empty
  // Full statistics of point i for the tooltip; empty: "label  y at x".
  std::function<std::string(std::size_t i)> describe = {};
};

struct Reference {
  std::string label = {};  // "measured peak"
  double y = 0;
  ImU32 color = 0;
  Line line = Line::Dashed;
};

struct Options {
  float height = 0;    // units; 0: fills what is left
  bool grows = false;  // higher than that where its card has room below
  LinkedCursor* cursor = nullptr;
  std::span<const Reference> references = {};
  std::string_view empty_text = {};  // shown in the middle while there is no data
  bool legend = true;
  bool dimmed = false;
};

// Draws the plot under `path` and records it as a widget. A right-click menu choice that leaves the
// window (CSV, PNG) is appended to `out` as SaveText or SavePlotPng.
void draw(Ui& ui, std::string_view path, const Axes& axes, std::span<const Series> series,
          const Options& options, Commands& out);

// "x,series,y,low,high" lines for every point of every series, hidden ones included.
std::string to_csv(const Axes& axes, std::span<const Series> series);

}  // namespace lab::ui::plot
