#include <algorithm>
#include <cmath>

#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

struct Face {
  ImU32 fill = 0, border = 0, text = 0;
};

Face face(const Theme& t, ButtonKind kind, const Item& item) {
  const ImU32 none = with_alpha(t.card, 0);
  const float press = item.held ? 0.22F : item.hovered ? 0.12F : 0.0F;
  switch (kind) {
    case ButtonKind::Primary: {
      const ImU32 fill =
          mix(t.accent, t.mode == ThemeMode::Dark ? IM_COL32_WHITE : IM_COL32_BLACK, press);
      return {fill, fill, t.accent_text};
    }
    case ButtonKind::Danger:
      return {with_alpha(t.bad, 0.08F + press), with_alpha(t.bad, 0.45F), t.bad};
    case ButtonKind::Quiet:
      return {item.held ? t.active : item.hovered ? t.hover : none, none, t.text};
    case ButtonKind::Normal: break;
  }
  return {item.held ? t.active : item.hovered ? t.hover : t.raised, t.border, t.text};
}

void draw_face(const Ui& ui, const Item& item, const Face& f) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float radius = ui.px(kControlRadius);
  list->AddRectFilled(item.min, item.max, styled(f.fill), radius);
  list->AddRect(item.min, item.max, styled(f.border), radius, 0,
                std::max(1.0F, std::floor(ui.scale)));
  focus_ring(ui, item, radius);
}

}  // namespace

bool button(Ui& ui, std::string_view path, std::string_view label, const ButtonOptions& options) {
  ImFont* font = ui.fonts.body;
  const ImVec2 text = text_size(font, label);
  float width = std::ceil(text.x + 2 * ui.px(14));
  if (options.width > 0) width = ui.px(options.width);
  if (options.width < 0) width = ImGui::GetContentRegionAvail().x;
  const Item item = control(path, {width, ui.px(kControlHeight)}, options.enabled);
  if (item.visible) {
    const float alpha = ImGui::GetStyle().Alpha;
    if (!options.enabled) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, alpha * 0.5F);
    const Face f = face(*ui.theme, options.kind, item);
    draw_face(ui, item, f);
    const float room = width - 2 * ui.px(8), shown = std::min(text.x, room);
    draw_text_fitted(
        ImGui::GetWindowDrawList(), font,
        {item.min.x + (width - shown) / 2, (item.min.y + item.max.y - font->FontSize) / 2}, room,
        f.text, label);
    if (!options.enabled) ImGui::PopStyleVar();
    hint(ui, options.hint);
  }
  record(ui, item, path, "button", label, {}, options.enabled);
  return item.pressed;
}

bool icon_button(Ui& ui, std::string_view path, int icon, std::string_view text) {
  const float side = ui.px(kControlHeight);
  const Item item = control(path, {side, side});
  if (item.visible) {
    draw_face(ui, item, face(*ui.theme, ButtonKind::Quiet, item));
    const float inset = ui.px(6);
    draw_icon(ImGui::GetWindowDrawList(), static_cast<Icon>(icon),
              {item.min.x + inset, item.min.y + inset}, side - 2 * inset,
              styled(item.hovered ? ui.theme->text : ui.theme->muted));
    hint(ui, text);
  }
  record(ui, item, path, "button", text);
  return item.pressed;
}

}  // namespace lab::ui
