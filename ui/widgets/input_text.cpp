#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/field.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {

Field next_field(const Ui& ui) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = std::max(ui.px(40), ImGui::GetContentRegionAvail().x);
  return {pos, {pos.x + width, pos.y + ui.px(kControlHeight)}};
}

void draw_field(const Ui& ui, const Field& field, bool hovered, bool active, bool invalid) {
  const Theme& t = *ui.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 border = invalid ? t.bad : active ? t.accent : hovered ? t.plot_axis : t.border;
  list->AddRectFilled(field.min, field.max, styled(t.raised), ui.px(kControlRadius));
  list->AddRect(field.min, field.max, styled(border), ui.px(kControlRadius), 0,
                std::max(1.0F, std::floor(ui.scale)));
}

FieldText::FieldText(const Ui& ui, const Field& field, float right) : ui_(ui), field_(field) {
  const ImVec4 none(0, 0, 0, 0);
  const float pad = std::floor((field.max.y - field.min.y - ui.fonts.body->FontSize) / 2);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, none);
  ImGui::PushStyleColor(ImGuiCol_FrameBgHovered, none);
  ImGui::PushStyleColor(ImGuiCol_FrameBgActive, none);
  ImGui::PushStyleColor(ImGuiCol_NavHighlight, none);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(10), pad});
  ImGui::PushFont(ui.fonts.body);
  ImGui::SetNextItemWidth(std::max(ui.px(24), field.width() - right));
}

FieldText::~FieldText() {
  ImGui::PopFont();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor(4);
}

bool input_text(Ui& ui, std::string_view path, std::string_view label, std::string& value,
                std::string_view text, std::string_view placeholder) {
  if (ImGui::GetCurrentWindowRead()->SkipItems) return false;
  control_label(ui, label);
  const Field field = next_field(ui);
  const std::string name = "##" + std::string(path);
  const ImGuiID id = ImGui::GetID(name.c_str());
  const bool was_hovered = ImGui::IsMouseHoveringRect(field.min, field.max);
  draw_field(ui, field, was_hovered, GImGui->ActiveId == id, false);
  bool changed = false;
  {
    const FieldText inside(ui, field, 0);
    const std::string ghost(placeholder);
    changed = ImGui::InputTextWithHint(name.c_str(), ghost.c_str(), &value);
  }
  focus_ring(ui, {.min = field.min, .max = field.max, .id = id, .visible = true},
             ui.px(kControlRadius));
  hint(ui, text);
  record_rect(ui, path, "input", label, value, true, field.min, field.max);
  return changed;
}

}  // namespace lab::ui
