#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {

bool checkbox(Ui& ui, std::string_view path, std::string_view label, bool& value,
              std::string_view text, bool enabled) {
  ImFont* font = ui.fonts.body;
  const float side = ui.px(18), gap = ui.px(8), height = ui.px(24);
  const float room = std::max(side, ImGui::GetContentRegionAvail().x);
  const float width = std::min(room, side + gap + text_size(font, label).x + ui.px(2));
  const Item item = control(path, {width, height}, enabled);
  if (item.pressed) value = !value;
  if (item.visible) {
    const Theme& t = *ui.theme;
    const float alpha = ImGui::GetStyle().Alpha;
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, alpha * (enabled ? 1.0F : 0.5F));
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float top = std::floor((item.min.y + item.max.y - side) / 2);
    const ImVec2 min(item.min.x, top), max(item.min.x + side, top + side);
    const ImU32 fill = value ? t.accent : item.hovered ? t.hover : t.raised;
    list->AddRectFilled(min, max, styled(fill), ui.px(4));
    list->AddRect(min, max, styled(value ? t.accent : t.plot_axis), ui.px(4), 0,
                  std::max(1.0F, std::floor(ui.scale)));
    if (value) draw_icon(list, kIconCheck, min, side, styled(t.accent_text));
    draw_text_fitted(list, font, {max.x + gap, (item.min.y + item.max.y - font->FontSize) / 2},
                     width - side - gap, t.text, label);
    focus_ring(ui, item, ui.px(4));
    ImGui::PopStyleVar();
    hint(ui, text);
  }
  record(ui, item, path, "checkbox", label, value ? "on" : "off", enabled);
  return item.pressed;
}

bool foldout(Ui& ui, std::string_view path, std::string_view label, bool& open) {
  ImFont* font = ui.fonts.body;
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(28)});
  if (item.pressed) open = !open;
  if (item.visible) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 color = item.hovered ? ui.theme->text : ui.theme->muted;
    draw_icon(list, open ? kIconChevronDown : kIconChevronRight,
              {item.min.x - ui.px(2), item.min.y + ui.px(6)}, ui.px(16), styled(color));
    draw_text_fitted(list, font,
                     {item.min.x + ui.px(20), (item.min.y + item.max.y - font->FontSize) / 2},
                     item.max.x - item.min.x - ui.px(20), color, label);
    focus_ring(ui, item, ui.px(4));
  }
  record(ui, item, path, "foldout", label, open ? "open" : "closed");
  return item.pressed;
}

bool selectable_row(Ui& ui, std::string_view path, std::string_view label, bool selected) {
  ImFont* font = ui.fonts.body;
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(kControlHeight)});
  if (item.visible) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Theme& t = *ui.theme;
    const float radius = ui.px(kControlRadius);
    if (selected) {
      list->AddRectFilled(item.min, item.max, styled(with_alpha(t.accent, 0.14F)), radius);
    } else if (item.hovered) {
      list->AddRectFilled(item.min, item.max, styled(item.held ? t.active : t.hover), radius);
    }
    const float pad = ui.px(10);
    draw_text_fitted(list, font, {item.min.x + pad, (item.min.y + item.max.y - font->FontSize) / 2},
                     item.max.x - item.min.x - 2 * pad, t.text, label);
    focus_ring(ui, item, radius);
  }
  record(ui, item, path, "row", label, selected ? "selected" : "");
  return item.pressed;
}

}  // namespace lab::ui
