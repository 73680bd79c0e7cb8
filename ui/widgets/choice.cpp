// Choosing one of several: a combo with a list that opens, and a segmented control.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/field.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
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
                   item.max.x - item.min.x - ui.px(32), ui.theme->text, text);
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
  for (const std::string& c : choices) width = std::max(width, text_size(font, c).x);
  return width;
}

}  // namespace

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
                     chosen.empty() ? "none" : chosen);
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
  const Field field = next_field(ui);
  ImGui::Dummy({field.width(), field.max.y - field.min.y});
  if (!ImGui::IsItemVisible()) return false;
  draw_field(ui, field, false, false, false);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ui.fonts.body;
  const float inset = ui.px(3);
  const float each =
      (field.width() - 2 * inset) / std::max(1.0F, static_cast<float>(choices.size()));
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
    const float shown = std::min(room, text_size(font, choice).x);
    draw_text_fitted(list, font,
                     {(left + right - shown) / 2, (field.min.y + field.max.y - font->FontSize) / 2},
                     room, chosen || item.hovered ? ui.theme->text : ui.theme->muted, choice);
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
