#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/frame.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
namespace {

constexpr float kSwatch = 20, kGap = 6, kApart = 14, kLine = 22;  // units

// What one entry stands for: a series or those of its group, or all of a family.
struct Entry {
  std::string label;
  Series sample;  // as its swatch is drawn
};

std::vector<Entry> entries_of(const Frame& f) {
  std::vector<Entry> entries;
  std::set<std::string_view> seen;
  for (const Series& s : f.series) {
    if (!s.in_legend || s.family.empty() || !seen.insert(s.family).second) continue;
    entries.push_back({s.family, {.color = s.color, .width = 3, .alpha = s.alpha}});
  }
  for (const Series& s : f.series) {
    const std::string& label = Frame::entry_of(s);
    if (!s.in_legend || label.empty() || !seen.insert(label).second) continue;
    entries.push_back({label,
                       {.color = s.family.empty() ? s.color : f.ui.theme->muted,
                        .line = s.line,
                        .marker = s.marker,
                        .hollow = s.hollow && s.family.empty(),
                        .width = s.width,
                        .alpha = s.alpha,
                        .bars = s.bars}});
  }
  return entries;
}

void toggle(PlotState& state, const std::string& label) {
  if (state.hidden.erase(label) == 0) state.hidden.insert(label);
}

void draw_entry(Frame& f, const Entry& entry, ImVec2 min, ImVec2 max) {
  Ui& ui = f.ui;
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
                styled(with_alpha(s.color, shown ? std::max(s.alpha, 0.5F) : 0.3F)));
    const ImVec2 text(min.x + ui.px(4 + kSwatch + kGap), middle - f.small_font()->FontSize / 2);
    draw_text_fitted(ImGui::GetWindowDrawList(), f.small_font(), text, max.x - text.x,
                     with_alpha(ui.theme->text, shown ? 0.9F : 0.4F), entry.label);
    focus_ring(ui, item, ui.px(4));
  }
  record(ui, item, path, "toggle", entry.label, shown ? "shown" : "hidden");
  if (item.pressed) {
    toggle(f.state, entry.label);
    ui.wants_animation = true;
  }
}

}  // namespace

float legend(Frame& f) {
  const Ui& ui = f.ui;
  const float line = ui.px(kLine);
  const bool y_title = !f.axes.y.label.empty() || !f.axes.y.unit.empty();
  const float title = y_title ? line : 0;
  if (!f.options.legend) return f.min.y + title;

  const std::vector<Entry> entries = entries_of(f);
  std::vector<float> widths;
  float total = 0;
  for (const Entry& entry : entries) {
    const float width =
        std::ceil(ui.px(4 + kSwatch + kGap + 4) + text_size(f.small_font(), entry.label).x);
    widths.push_back(std::min(width, f.max.x - f.min.x));
    total += widths.back() + ui.px(kApart - 8);
  }
  if (entries.empty()) return f.min.y + title;

  // Beside the title when everything fits there, right-aligned; else in lines of its own.
  const std::string unit_text = std::string(f.axes.y.label).append(f.axes.y.unit);
  const float reserved = y_title ? text_size(f.small_font(), unit_text).x + ui.px(56) : 0;
  const bool beside = reserved + total <= f.max.x - f.min.x;
  float x = beside ? f.max.x - total + ui.px(kApart - 8) - ui.px(4) : f.min.x;
  float y = beside ? f.min.y : f.min.y + title;
  const float start = x;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!beside && x > start && x + widths[i] > f.max.x) {
      x = start;
      y += line;
    }
    draw_entry(f, entries[i], {std::round(x), y}, {std::round(x + widths[i]), y + line - ui.px(2)});
    x += widths[i] + ui.px(kApart - 8);
  }
  return y + line;
}

}  // namespace lab::ui::plot
