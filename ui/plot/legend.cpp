#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "ui/plot/frame.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
namespace {

constexpr float kSwatch = 20, kGap = 6, kApart = 14, kLine = 22;  // units

void toggle(PlotState& state, const Series& s) {
  const std::string& entry = Frame::entry_of(s);
  if (state.hidden.erase(entry) == 0) state.hidden.insert(entry);
}

void entry(Frame& f, std::size_t index, ImVec2 min, ImVec2 max) {
  const Series& s = f.series[index];
  Ui& ui = f.ui;
  const std::string& label = Frame::entry_of(s);
  const std::string path = f.path + "/legend/" + label;
  const Item item = control_at(path, min, max);
  const bool shown = f.shown(s);
  if (item.visible) {
    if (item.hovered) {
      ImGui::GetWindowDrawList()->AddRectFilled(min, max, styled(ui.theme->hover), ui.px(4));
      if (shown) f.lit = index;
    }
    const float middle = (min.y + max.y) / 2;
    draw_swatch(f, s, {min.x + ui.px(4), middle}, ui.px(kSwatch),
                styled(with_alpha(s.color, shown ? std::max(s.alpha, 0.5F) : 0.3F)));
    const ImVec2 text(min.x + ui.px(4 + kSwatch + kGap), middle - f.small_font()->FontSize / 2);
    draw_text_fitted(ImGui::GetWindowDrawList(), f.small_font(), text, max.x - text.x,
                     with_alpha(ui.theme->text, shown ? 0.9F : 0.4F), label);
    focus_ring(ui, item, ui.px(4));
  }
  record(ui, item, path, "toggle", label, shown ? "shown" : "hidden");
  if (item.pressed) {
    toggle(f.state, s);
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

  struct Place {
    std::size_t index;
    float width;
  };
  std::vector<Place> places;
  std::set<std::string_view> seen;
  float total = 0;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    const Series& s = f.series[i];
    const std::string& label = Frame::entry_of(s);
    if (!s.in_legend || label.empty() || !seen.insert(label).second) continue;
    const float width =
        std::ceil(ui.px(4 + kSwatch + kGap + 4) + text_size(f.small_font(), label).x);
    places.push_back({i, std::min(width, f.max.x - f.min.x)});
    total += places.back().width + ui.px(kApart - 8);
  }
  if (places.empty()) return f.min.y + title;

  // Beside the title when everything fits there, right-aligned; else in lines of its own.
  const std::string unit_text = std::string(f.axes.y.label).append(f.axes.y.unit);
  const float reserved = y_title ? text_size(f.small_font(), unit_text).x + ui.px(56) : 0;
  const bool beside = reserved + total <= f.max.x - f.min.x;
  float x = beside ? f.max.x - total + ui.px(kApart - 8) - ui.px(4) : f.min.x;
  float y = beside ? f.min.y : f.min.y + title;
  const float start = x;
  for (const Place& p : places) {
    if (!beside && x > start && x + p.width > f.max.x) {
      x = start;
      y += line;
    }
    entry(f, p.index, {std::round(x), y}, {std::round(x + p.width), y + line - ui.px(2)});
    x += p.width + ui.px(kApart - 8);
  }
  return y + line;
}

}  // namespace lab::ui::plot
