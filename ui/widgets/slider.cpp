// A slider on one line: label, value, track.
#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

// The value at a place of the track, or one step away for an arrow key.
double moved(double value, const Item& item, float left, float right, const SliderOptions& o) {
  if (item.held) {
    const float share = (ImGui::GetIO().MousePos.x - left) / std::max(1.0F, right - left);
    value = o.min + (o.max - o.min) * static_cast<double>(std::clamp(share, 0.0F, 1.0F));
  }
  if (has_keys(item)) {
    const bool less = key_pressed(GLFW_KEY_LEFT, true), more = key_pressed(GLFW_KEY_RIGHT, true);
    value += (more ? o.step : 0) - (less ? o.step : 0);
    if (less || more) claim_arrows();
  }
  return std::clamp(std::round(value / o.step) * o.step, o.min, o.max);
}

}  // namespace

bool slider(Ui& ui, std::string_view path, std::string_view label, std::string_view shown,
            double& value, const SliderOptions& options) {
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(kControlHeight)});
  if (!item.visible) return false;
  const Theme& t = *ui.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.caption;
  const float middle = std::floor((item.min.y + item.max.y) / 2);
  const float text_y = middle - font->FontSize / 2;
  const float label_width = text_size(font, label).x, number = ui.px(36), knob = ui.px(7);
  draw_control_text(list, font, {item.min.x, text_y}, label_width, t.muted, label);
  draw_text(list, font, {item.min.x + label_width + ui.px(6), text_y}, t.text, shown);
  const float left = item.min.x + label_width + ui.px(6) + number + knob;
  const float right = std::max(left + ui.px(16), item.max.x - knob);
  const double next = moved(value, item, left, right, options);
  const bool changed = next != value;
  value = next;
  const double share = (value - options.min) / (options.max - options.min);
  const float at = left + (right - left) * static_cast<float>(share);
  const float half = ui.px(2);
  list->AddRectFilled({left, middle - half}, {right, middle + half}, styled(t.active), half);
  list->AddRectFilled({left, middle - half}, {at, middle + half}, styled(t.accent), half);
  list->AddCircleFilled({at, middle}, knob, styled(item.hovered || item.held ? t.text : t.accent));
  focus_ring(ui, item, ui.px(kControlRadius));
  hint(ui, options.hint);
  record(ui, item, path, "slider", label, shown);
  return changed;
}

}  // namespace lab::ui
