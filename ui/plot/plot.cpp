// One frame of a plot: legend, layout, and drawing order.
#include "ui/plot/plot.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "ui/plot/frame.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"
#include "ui/widgets/widgets.h"

namespace lab::ui::plot {
// --- legend ---------------------------------------------------------------------------------

namespace {

constexpr float kSwatch = 20, kGap = 6, kApart = 14, kLine = 22;  // units

// A legend entry: a series, or the series of a group.
struct Entry {
  std::string label;
  Series sample;  // drawn as its swatch
};

// Whether all series of the entry have the colour of this one.
bool one_color(const Frame& f, const Series& s) {
  return std::all_of(f.series.begin(), f.series.end(), [&](const Series& other) {
    return !other.in_legend || Frame::entry_of(other) != Frame::entry_of(s) ||
           other.color == s.color;
  });
}

std::vector<Entry> entries_of(const Frame& f) {
  std::vector<Entry> entries;
  std::set<std::string_view> seen;
  for (const Series& s : f.series) {
    const std::string& label = Frame::entry_of(s);
    if (!s.in_legend || label.empty() || !seen.insert(label).second) continue;
    entries.push_back({label,
                       {.color = one_color(f, s) ? s.color : f.ui.theme->muted,
                        .line = s.line,
                        .marker = s.marker,
                        .hollow = s.hollow,
                        .width = s.width,
                        .alpha = s.alpha,
                        .only_key = s.only_key,
                        .bars = s.bars}});
  }
  return entries;
}

void toggle(PlotState& state, const std::string& label) {
  if (state.hidden.erase(label) == 0) state.hidden.insert(label);
}

void draw_key(const Frame& f, const Entry& entry, ImVec2 min, ImVec2 max) {
  Ui& ui = f.ui;
  const float middle = (min.y + max.y) / 2;
  draw_swatch(f, entry.sample, {min.x + ui.px(4), middle}, ui.px(kSwatch),
              styled(entry.sample.color));
  const ImVec2 text(min.x + ui.px(4 + kSwatch + kGap), middle - f.small_font()->FontSize / 2);
  draw_text_fitted(ImGui::GetWindowDrawList(), f.small_font(), text, max.x - text.x, ui.theme->text,
                   entry.label);
  record_rect(ui, f.path + "/key/" + entry.label, "text", entry.label, {}, true, min, max);
}

void draw_entry(Frame& f, const Entry& entry, ImVec2 min, ImVec2 max) {
  Ui& ui = f.ui;
  if (entry.sample.only_key) return draw_key(f, entry, min, max);
  const std::string path = f.path + "/legend/" + entry.label;
  const Item item = control_at(path, min, max);
  const bool shown = !f.state.hidden.contains(entry.label);
  if (item.visible) {
    if (item.hovered) {
      ImGui::GetWindowDrawList()->AddRectFilled(min, max, styled(ui.theme->hover), ui.px(4));
      if (shown) f.lit = entry.label;
    }
    const float middle = (min.y + max.y) / 2;
    const Series& s = entry.sample;
    draw_swatch(f, s, {min.x + ui.px(4), middle}, ui.px(kSwatch),
                styled(shown ? with_alpha(s.color, std::max(s.alpha, 0.5F)) : ui.theme->disabled));
    const ImVec2 text(min.x + ui.px(4 + kSwatch + kGap), middle - f.small_font()->FontSize / 2);
    draw_text_fitted(ImGui::GetWindowDrawList(), f.small_font(), text, max.x - text.x,
                     shown ? ui.theme->text : ui.theme->disabled, entry.label);
    focus_ring(ui, item, ui.px(4));
  }
  record(ui, item, path, "toggle", entry.label, shown ? "shown" : "hidden");
  if (item.pressed) {
    toggle(f.state, entry.label);
    ui.wants_animation = true;
  }
}

float entry_width(const Frame& f, std::string_view label) {
  return std::ceil(f.ui.px(4 + kSwatch + kGap + 4) + text_size(f.small_font(), label).x);
}

// How many of the entries fit into a line of this width, the first one always.
std::size_t fitting(const std::vector<float>& widths, float room, float gap) {
  std::size_t count = 0;
  for (float used = 0; count < widths.size(); ++count) {
    used += widths[count];
    if (count > 0 && used > room) break;
    used += gap;
  }
  return count;
}

// Shows the lines that a legend leaves out, or leaves them out again.
void draw_whole_legend(Frame& f, std::size_t left_out, ImVec2 min, float width) {
  Ui& ui = f.ui;
  const std::string path = f.path + "/whole_legend";
  const std::string label = left_out > 0 ? fmt::format("+{}", left_out) : tr("less");
  const ImVec2 max(min.x + width, min.y + ui.px(kLine - 2));
  const Item item = control_at(path, min, max);
  if (item.visible) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (item.hovered) list->AddRectFilled(min, max, styled(ui.theme->hover), ui.px(4));
    const float y = (min.y + max.y - f.small_font()->FontSize) / 2;
    draw_text(list, f.small_font(), {min.x + ui.px(4), y}, ui.theme->accent, label);
    focus_ring(ui, item, ui.px(4));
  }
  hint(ui, left_out > 0 ? tr("Shows the whole legend") : tr("Shows one line of the legend"));
  record(ui, item, path, "button", label);
  if (item.pressed) {
    f.state.whole_legend = left_out > 0;
    ui.wants_animation = true;
  }
}

// Draws the entries on lines of their own from `y` on: one, unless the user asked for all. Returns
// their bottom.
float legend_lines(Frame& f, const std::vector<Entry>& entries, std::vector<float> widths,
                   float y) {
  const Ui& ui = f.ui;
  const float line = ui.px(kLine), gap = ui.px(kApart - 8), room = f.max.x - f.min.x;
  std::size_t shown = fitting(widths, room, gap);
  const bool several = shown < entries.size();
  const float more = several ? std::ceil(text_size(f.small_font(), "+88").x + ui.px(8)) : 0;
  const float less = std::ceil(text_size(f.small_font(), tr("less")).x + ui.px(8));
  const bool whole = several && f.state.whole_legend;
  if (several) shown = whole ? entries.size() : fitting(widths, room - more - gap, gap);
  widths.front() = std::min(widths.front(), several && !whole ? room - more - gap : room);
  float x = f.min.x;
  const auto place = [&](float width) {
    if (x > f.min.x && x + width > f.max.x) {
      x = f.min.x;
      y += line;
    }
    return std::exchange(x, x + width + gap);
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const float left = place(widths[i]);
    draw_entry(f, entries[i], {std::round(left), y},
               {std::round(left + widths[i]), y + line - ui.px(2)});
  }
  if (several) {
    const float width = whole ? less : more;
    const float left = place(width);
    draw_whole_legend(f, entries.size() - shown, {std::round(left), y}, width);
  }
  return y + line;
}

// Draws the legend at the top and handles its clicks. Returns its bottom y.
float legend(Frame& f) {
  const Ui& ui = f.ui;
  const float line = ui.px(kLine), gap = ui.px(kApart - 8);
  const bool y_title = !f.axes.y.label.empty() || !f.axes.y.unit.empty();
  const float title = y_title ? line : 0;
  const std::vector<Entry> entries = f.options.legend ? entries_of(f) : std::vector<Entry>();
  if (entries.empty()) return f.min.y + title;
  std::vector<float> widths;
  float total = 0;
  for (const Entry& entry : entries) {
    widths.push_back(std::min(entry_width(f, entry.label), f.max.x - f.min.x));
    total += widths.back() + gap;
  }
  // Right-aligned beside the title if everything fits there, otherwise on lines of its own.
  // The unit of a log axis is beside its ticks.
  const bool linear = f.state.y_scale.value_or(f.axes.y.scale) == Scale::Linear;
  const std::string title_text = linear ? std::string(f.axes.y.label).append(f.axes.y.unit)
                                        : trf("{}, log scale", f.axes.y.label);
  const float reserved =
      y_title ? text_size(f.small_font(), title_text).x + ui.px(linear ? 56 : 24) : 0;
  if (reserved + total > f.max.x - f.min.x) {
    return legend_lines(f, entries, std::move(widths), f.min.y + title);
  }
  float x = f.max.x - total + gap - ui.px(4);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    draw_entry(f, entries[i], {std::round(x), f.min.y},
               {std::round(x + widths[i]), f.min.y + line - ui.px(2)});
    x += widths[i] + gap;
  }
  return f.min.y + line;
}

// --- layout ---------------------------------------------------------------------------------

Range with_ends(Range range, const Axis& axis, Scale scale) {
  if (axis.min && can_show(scale, *axis.min)) range.min = *axis.min;
  if (axis.max && can_show(scale, *axis.max)) range.max = *axis.max;
  return showable_range(scale, range);
}

// Bars and markers need space at the ends; a plain line may touch them.
double x_margin(const Frame& f) {
  double margin = 0;
  for (const Series& s : f.series) {
    if (!f.shown(s) || s.x.empty()) continue;
    if (s.bars) margin = std::max(margin, 0.5 / static_cast<double>(s.x.size()) + 0.02);
    if (s.marker != Marker::None) margin = std::max(margin, 0.02);
  }
  return margin;
}

Range follow_x(const Frame& f) {
  Extent extent(f.x.scale);
  for (const Series& s : f.series) {
    if (!f.shown(s) || std::min(s.x.size(), s.y.size()) == 0) continue;
    const auto x = s.x.first(std::min(s.x.size(), s.y.size()));
    // x ascends: on a log axis, the values that cannot be shown precede the first one that can.
    const auto first =
        f.x.scale == Scale::Linear ? x.begin() : std::upper_bound(x.begin(), x.end(), 0.0);
    if (first != x.end()) extent.add(*first);
    extent.add(x.back());
  }
  return with_ends(extent.padded(x_margin(f), false), f.axes.x, f.x.scale);
}

Range follow_y(const Frame& f) {
  Extent extent(f.y.scale);
  bool bars = false;
  for (const Curve& c : f.curves) {
    extent.add(c.line->y->min);
    extent.add(c.line->y->max);
    for (const BandPoint& p : c.band) {
      extent.add(p.low);
      extent.add(p.high);
    }
    bars = bars || c.series->bars;
  }
  if (!extent.empty()) {
    for (const Reference& r : f.options.references) extent.add(r.y);
    if (bars && f.y.scale == Scale::Linear) extent.add(0);
  }
  const double margin = f.y.scale == Scale::Linear ? 0.06 : 0.04;
  return with_ends(extent.padded(margin, true), f.axes.y, f.y.scale);
}

void thin_all(Frame& f) {
  std::map<std::string, KeptSeries> all;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    const Series& s = f.series[i];
    if (!f.shown(s)) continue;
    Curve c{.series = &s, .index = i, .line = {}, .pixels = {}, .band = {}};
    if (s.append_key.empty()) {
      c.line = std::make_shared<const Thinned>(thin(s.x, s.y, f.x, f.y.scale));
    } else {
      auto known = f.state.kept.extract(s.append_key);
      KeptSeries& kept = known ? all.insert(std::move(known)).position->second : all[s.append_key];
      c.line = kept.thinned.thinned(s.x, s.y, f.x, f.y.scale);
    }
    if (!s.low.empty() && !s.high.empty()) c.band = thin_band(s.x, s.low, s.high, f.x);
    if (c.line->y) f.curves.push_back(std::move(c));
  }
  f.state.kept = std::move(all);  // drops those of series that are gone
}

// The lines in pixels of the final ranges and areas.
void place_lines(Frame& f) {
  for (Curve& c : f.curves) {
    const Series& s = *c.series;
    if (s.bars) continue;
    c.pixels = s.append_key.empty()
                   ? std::make_shared<const LinePixels>(line_pixels(*c.line, f.x, f.y, s.steps))
                   : f.state.kept[s.append_key].pixels.of(c.line, f.x, f.y, s.steps);
  }
}

TickRequest request(const Axis& axis, const AxisMap& map, double labels) {
  return {.scale = map.scale,
          .range = map.range,
          .max_labels = labels,
          .unit = axis.unit,
          .binary = axis.binary,
          .whole = axis.whole,
          .percent = axis.percent};
}

// Wide labels leave space for fewer: repeats with the width of the widest.
Ticks x_ticks(const Frame& f) {
  const float width = f.area_max.x - f.area_min.x;
  Ticks ticks;
  float each = f.ui.px(44);
  for (int round = 0; round < 3; ++round) {
    ticks = make_ticks(request(f.axes.x, f.x, std::max(1.0F, width / each)));
    float widest = 0;
    for (Tick& t : ticks.ticks) {
      t.label = tick_text(t, f.axes.x.zero, f.axes.x.tick_unit);
      widest = std::max(widest, text_size(f.small_font(), t.label).x);
    }
    if (widest + f.ui.px(20) <= each) break;
    each = widest + f.ui.px(24);
  }
  return ticks;
}

// Chooses the ranges, thins the series and lays out the areas below `legend_bottom`.
void arrange(Frame& f, float legend_bottom) {
  const Ui& ui = f.ui;
  f.x.scale = f.state.x_scale.value_or(f.axes.x.scale);
  f.y.scale = f.state.y_scale.value_or(f.axes.y.scale);
  f.x.range = showable_range(f.x.scale, f.state.x.value_or(follow_x(f)));

  const float line = std::ceil(f.small_font()->FontSize);
  const bool x_title = !f.axes.x.label.empty() || !f.axes.x.unit.empty();
  const float bands = f.options.bands.empty() ? 0 : line + ui.px(3);
  f.area_min.y = std::round(legend_bottom + ui.px(6) + bands);
  f.area_max.y = std::round(f.max.y - line - ui.px(6) - (x_title ? line + ui.px(2) : 0));
  f.area_max.y = std::max(f.area_max.y, f.area_min.y + ui.px(24));
  f.area_max.x = std::round(f.max.x - ui.px(8));

  // Thinned for the widest possible area, because the width of the y labels is not known yet.
  f.x.from = f.min.x;
  f.x.to = f.area_max.x;
  thin_all(f);
  f.y.range = showable_range(f.y.scale, f.state.y.value_or(follow_y(f)));
  f.y.from = f.area_max.y;
  f.y.to = f.area_min.y;
  const float height = f.area_max.y - f.area_min.y;
  // Decades are far apart, so that labels within them may be closer.
  const float apart = ui.px(f.y.scale == Scale::Linear ? 40 : 28);
  f.y_ticks = make_ticks(request(f.axes.y, f.y, std::max(1.0F, height / apart)));
  float widest = std::max(ui.px(16), text_size(ui.fonts.caption, f.axes.y.room_for).x);
  for (const Tick& t : f.y_ticks.ticks) {
    widest = std::max(widest, text_size(ui.fonts.caption, t.label).x);
  }
  f.area_min.x = std::round(std::min(f.min.x + widest + ui.px(8), f.area_max.x - ui.px(24)));
  f.x.from = f.area_min.x;
  f.x_ticks = x_ticks(f);
  place_lines(f);
}

// --- the widget -----------------------------------------------------------------------------

void draw_empty_text(const Frame& f) {
  if (!f.empty() || f.options.empty_text.empty()) return;
  ImFont* font = f.ui.fonts.body;
  const float wrap = std::max(f.ui.px(80), f.area_max.x - f.area_min.x - f.ui.px(32));
  const std::string text = break_lines(font, f.options.empty_text, wrap);
  const ImVec2 size =
      font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, text.data(), text.data() + text.size());
  draw_text_centred(ImGui::GetWindowDrawList(), font,
                    {(f.area_min.x + f.area_max.x) / 2, (f.area_min.y + f.area_max.y - size.y) / 2},
                    wrap, f.ui.theme->muted, text);
}

}  // namespace

void draw(Ui& ui, std::string_view path, const Axes& axes, std::span<const Series> series,
          const Options& options, Commands& out) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 avail = ImGui::GetContentRegionAvail();
  const float least = options.height > 0 ? ui.px(options.height) : ui.px(120);
  const bool fills = options.grows || options.height <= 0;
  const float height = fills ? std::max(std::floor(avail.y), least) : least;
  if (options.grows) grown_in_card(ui, height - least);
  const ImVec2 end(pos.x + std::max(avail.x, ui.px(80)), pos.y + height);
  ImGui::ItemSize(ImVec2(end.x - pos.x, height));
  if (!ImGui::ItemAdd(ImRect(pos, end), 0)) return;
  const ImGuiLastItemData whole = GImGui->LastItemData;

  Frame f{.ui = ui,
          .path = std::string(path),
          .axes = axes,
          .series = series,
          .options = options,
          .state = ui.plots[std::string(path)],
          .min = pos,
          .max = end,
          .x = {},
          .y = {},
          .x_ticks = {},
          .y_ticks = {},
          .curves = {},
          .lit = {}};
  arrange(f, legend(f));
  interact(f);
  draw_grid(f);
  draw_bands(f);
  draw_curves(f);
  draw_marks(f, draw_references(f));
  draw_notes(f);
  draw_line_labels(f);
  draw_axis_text(f);
  draw_empty_text(f);
  draw_cursor(f);
  draw_box(f);
  tooltip(f);
  menu(f, out);
  data_table(f);
  GImGui->LastItemData = whole;
  record_rect(ui, path, "plot", axes.y.label,
              fmt::format("x {:.6g}..{:.6g} y {:.6g}..{:.6g}", f.x.range.min, f.x.range.max,
                          f.y.range.min, f.y.range.max),
              true, pos, end);
}

}  // namespace lab::ui::plot
