// Buttons, checkbox, foldout, row, combo and segmented control.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
// --- buttons --------------------------------------------------------------------------------

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
    case ButtonKind::Link:
      return {item.held      ? t.active
              : item.hovered ? t.hover
                             : none,
              none, kind == ButtonKind::Link ? t.accent : t.text};
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

float button_width(const Ui& ui, std::string_view label) {
  constexpr float kAround = 28;  // the label
  return std::ceil(text_size(ui.fonts.body, label).x + ui.px(kAround)) / ui.scale;
}

float small_button_width(const Ui& ui, std::string_view label) {
  constexpr float kAround = 20;  // the label
  return std::ceil(text_size(ui.fonts.caption, label).x + ui.px(kAround)) / ui.scale;
}

namespace {

float width_of(const Ui& ui, std::string_view label, const ButtonOptions& options) {
  if (options.width > 0) return ui.px(options.width);
  if (options.width < 0) return ImGui::GetContentRegionAvail().x;
  if (options.kind == ButtonKind::Link) return std::ceil(text_size(ui.fonts.body, label).x);
  return ui.px(options.small ? small_button_width(ui, label) : button_width(ui, label));
}

// What is drawn of a button: of a link as wide as its text, a little more than that.
Item face_item(const Ui& ui, Item item, const ButtonOptions& options) {
  constexpr float kBeyond = 8;  // units
  if (options.kind != ButtonKind::Link || options.width != 0) return item;
  item.min.x -= ui.px(kBeyond);
  item.max.x += ui.px(kBeyond);
  return item;
}

}  // namespace

bool button(Ui& ui, std::string_view path, std::string_view label, const ButtonOptions& options) {
  constexpr float kSmall = 26;  // units high
  ImFont* font = options.small ? ui.fonts.caption : ui.fonts.body;
  const ImVec2 text = text_size(font, label);
  const float width = width_of(ui, label, options);
  const Item item =
      control(path, {width, ui.px(options.small ? kSmall : kControlHeight)}, options.enabled);
  if (item.visible) {
    const Theme& t = *ui.theme;
    const bool bare = options.kind == ButtonKind::Quiet || options.kind == ButtonKind::Link;
    const Face f = options.enabled ? face(t, options.kind, item)
                   : bare          ? Face{0, 0, t.disabled}
                                   : Face{t.raised, t.border, t.disabled};
    draw_face(ui, face_item(ui, item, options), f);
    const bool fitted = options.kind == ButtonKind::Link && options.width == 0;
    const float room = fitted ? width : width - 2 * ui.px(8), shown = std::min(text.x, room);
    draw_control_text(
        ImGui::GetWindowDrawList(), font,
        {item.min.x + (width - shown) / 2, (item.min.y + item.max.y - font->FontSize) / 2}, room,
        f.text, label);
    hint(ui, options.hint, options.hint_side);
  }
  record(ui, item, path, "button", label, options.kind == ButtonKind::Primary ? "primary" : "",
         options.enabled);
  return item.pressed;
}

bool icon_button(Ui& ui, std::string_view path, int icon, std::string_view text, HintSide at) {
  const float side = ui.px(kControlHeight);
  const Item item = control(path, {side, side});
  if (item.visible) {
    draw_face(ui, item, face(*ui.theme, ButtonKind::Quiet, item));
    const float inset = ui.px(6);
    draw_icon(ImGui::GetWindowDrawList(), static_cast<Icon>(icon),
              {item.min.x + inset, item.min.y + inset}, side - 2 * inset,
              styled(item.hovered ? ui.theme->text : ui.theme->muted));
    hint(ui, text, at);
  }
  record(ui, item, path, "button", text);
  return item.pressed;
}

// --- checkbox, foldout, row -----------------------------------------------------------------

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
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float top = std::floor((item.min.y + item.max.y - side) / 2);
    const ImVec2 min(item.min.x, top), max(item.min.x + side, top + side);
    const ImU32 ticked = enabled ? t.accent : t.disabled;
    const ImU32 fill = value ? ticked : item.hovered ? t.hover : t.raised;
    list->AddRectFilled(min, max, styled(fill), ui.px(4));
    list->AddRect(min, max, styled(value ? ticked : t.disabled), ui.px(4), 0,
                  std::max(1.0F, std::floor(ui.scale)));
    if (value) draw_icon(list, kIconCheck, min, side, styled(t.accent_text));
    draw_control_text(list, font, {max.x + gap, (item.min.y + item.max.y - font->FontSize) / 2},
                      width - side - gap, enabled ? t.text : t.disabled, label);
    focus_ring(ui, item, ui.px(4));
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
    draw_control_text(list, font,
                      {item.min.x + ui.px(20), (item.min.y + item.max.y - font->FontSize) / 2},
                      item.max.x - item.min.x - ui.px(20), color, label);
    focus_ring(ui, item, ui.px(4));
  }
  record(ui, item, path, "foldout", label, open ? "open" : "closed");
  return item.pressed;
}

// --- one of several: combo and segmented control --------------------------------------------

namespace {

std::string_view choice_at(std::span<const std::string> choices, int index) {
  if (index < 0 || index >= static_cast<int>(choices.size())) return {};
  return choices[static_cast<std::size_t>(index)];
}

bool option_row(Ui& ui, const std::string& path, std::string_view text, bool chosen) {
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(28)});
  if (!item.visible) return false;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool lit = item.hovered || (GImGui->NavId == item.id && !GImGui->NavDisableHighlight);
  if (lit) list->AddRectFilled(item.min, item.max, styled(ui.theme->active), ui.px(4));
  if (chosen) {
    draw_icon(list, kIconCheck, {item.min.x + ui.px(6), item.min.y + ui.px(6)}, ui.px(16),
              styled(ui.theme->accent));
  }
  ImFont* font = ui.fonts.body;
  draw_text_fitted(list, font,
                   {item.min.x + ui.px(28), (item.min.y + item.max.y - font->FontSize) / 2},
                   item.max.x - item.min.x - ui.px(32), ui.theme->text, tr(std::string(text)));
  record(ui, item, path, "option", text, chosen ? "chosen" : "");
  return item.pressed;
}

bool choice_list(Ui& ui, std::string_view path, std::span<const std::string> choices, int& index) {
  bool changed = false;
  for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
    const std::string_view text = choices[static_cast<std::size_t>(i)];
    if (i == index && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
    if (option_row(ui, std::string(path).append("/").append(text), text, i == index)) {
      changed = changed || index != i;
      index = i;
      ImGui::CloseCurrentPopup();
    }
  }
  return changed;
}

float widest(ImFont* font, std::span<const std::string> choices) {
  float width = 0;
  for (const std::string& c : choices) width = std::max(width, text_size(font, tr(c)).x);
  return width;
}

}  // namespace

bool icon_menu(Ui& ui, std::string_view path, int icon, std::string_view text,
               std::span<const ValueName> choices, int& index) {
  const std::string popup = std::string(path) + "/list";
  if (icon_button(ui, path, icon, text, HintSide::Above)) ImGui::OpenPopup(popup.c_str());
  if (!ImGui::IsPopupOpen(popup.c_str())) return false;
  const ImVec2 corner = ImGui::GetItemRectMin();
  float width = 0;
  for (const ValueName& choice : choices) {
    width = std::max(width, text_size(ui.fonts.body, tr(choice.label)).x);
  }
  const float height = static_cast<float>(choices.size()) * ui.px(28) + ui.px(8) + 2;
  ImGui::SetNextWindowPos({corner.x, corner.y - ui.px(4)}, ImGuiCond_Appearing, {0, 1});
  ImGui::SetNextWindowSize({width + ui.px(28 + 24), height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(4), ui.px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
  bool changed = false;
  if (ImGui::BeginPopup(popup.c_str(), ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
    for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
      const ValueName& choice = choices[static_cast<std::size_t>(i)];
      const std::string name = std::string(path).append("/").append(choice.name);
      if (!option_row(ui, name, choice.label, i == index)) continue;
      changed = changed || i != index;
      index = i;
      ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
  return changed;
}

bool combo(Ui& ui, std::string_view path, std::string_view label,
           std::span<const std::string> choices, int& index, std::string_view text) {
  control_label(ui, label);
  const float width = std::max(ui.px(60), ImGui::GetContentRegionAvail().x);
  const Item item = control(path, {width, ui.px(kControlHeight)}, !choices.empty());
  const std::string popup = std::string(path) + "/list";
  const std::string_view chosen = choice_at(choices, index);
  if (item.visible) {
    const bool open = ImGui::IsPopupOpen(popup.c_str());
    draw_field(ui, {item.min, item.max}, item.hovered, open, false);
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImFont* font = ui.fonts.body;
    const float y = (item.min.y + item.max.y - font->FontSize) / 2;
    draw_text_fitted(list, font, {item.min.x + ui.px(10), y}, width - ui.px(10 + 30),
                     chosen.empty() ? ui.theme->muted : ui.theme->text,
                     chosen.empty() ? tr("none") : tr(std::string(chosen)));
    draw_icon(list, kIconChevronDown, {item.max.x - ui.px(26), item.min.y + ui.px(8)}, ui.px(16),
              styled(ui.theme->muted));
    focus_ring(ui, item, ui.px(kControlRadius));
    hint(ui, text);
  }
  record(ui, item, path, "combo", label, chosen, !choices.empty());
  if (item.pressed) ImGui::OpenPopup(popup.c_str());
  if (!ImGui::IsPopupOpen(popup.c_str())) return false;

  const float rows = std::min(10.0F, static_cast<float>(choices.size()));
  const float wide = std::max(width, widest(ui.fonts.body, choices) + ui.px(28 + 24));
  ImGui::SetNextWindowPos({item.min.x, item.max.y + ui.px(4)}, ImGuiCond_Appearing);
  ImGui::SetNextWindowSize({wide, rows * ui.px(28) + ui.px(8) + 2});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(4), ui.px(4)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0F);
  bool changed = false;
  if (ImGui::BeginPopup(popup.c_str(), ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
    changed = choice_list(ui, path, choices, index);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(3);
  return changed;
}

bool segmented(Ui& ui, std::string_view path, std::string_view label,
               std::span<const std::string> choices, int& index, std::string_view text) {
  control_label(ui, label);
  ImFont* font = ui.fonts.body;
  const float inset = ui.px(3), count = std::max(1.0F, static_cast<float>(choices.size()));
  Field field = next_field(ui);
  if (label.empty()) {
    const float each = std::max(ui.px(72), widest(font, choices) + ui.px(32));
    field.max.x = std::min(field.max.x, std::round(field.min.x + each * count + 2 * inset));
  }
  ImGui::Dummy({field.width(), field.max.y - field.min.y});
  if (!ImGui::IsItemVisible()) return false;
  draw_field(ui, field, false, false, false);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float each = (field.width() - 2 * inset) / count;
  bool changed = false;
  for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
    const std::string_view choice = choices[static_cast<std::size_t>(i)];
    const std::string name = std::string(path).append("/").append(choice);
    const float left = std::round(field.min.x + inset + each * static_cast<float>(i));
    const float right = std::round(field.min.x + inset + each * static_cast<float>(i + 1));
    const Item item = control_at(name, {left, field.min.y + inset}, {right, field.max.y - inset});
    if (!item.visible) continue;
    const bool chosen = i == index;
    const float radius = ui.px(4);
    if (chosen) {
      const bool dark = ui.theme->mode == ThemeMode::Dark;
      list->AddRectFilled(item.min, item.max, styled(dark ? ui.theme->active : ui.theme->card),
                          radius);
      list->AddRect(item.min, item.max, styled(ui.theme->plot_axis), radius, 0,
                    std::max(1.0F, std::floor(ui.scale)));
    } else if (item.hovered) {
      list->AddRectFilled(item.min, item.max, styled(ui.theme->hover), radius);
    }
    const float room = right - left - ui.px(4);
    const std::string shown_text = tr(std::string(choice));
    const float shown = std::min(room, text_size(font, shown_text).x);
    draw_control_text(
        list, font, {(left + right - shown) / 2, (field.min.y + field.max.y - font->FontSize) / 2},
        room, chosen || item.hovered ? ui.theme->text : ui.theme->muted, shown_text);
    focus_ring(ui, item, radius);
    hint(ui, text);
    record(ui, item, name, "segment", choice, chosen ? "chosen" : "");
    if (item.pressed && !chosen) {
      index = i;
      changed = true;
    }
  }
  record_rect(ui, path, "segmented", label, choice_at(choices, index), true, field.min, field.max);
  return changed;
}

}  // namespace lab::ui
