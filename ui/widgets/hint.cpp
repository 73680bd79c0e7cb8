// Tooltips: one short delay, wrapped text, the same look everywhere.
#include <imgui.h>
#include <imgui_internal.h>

#include "ui/widgets/item.h"
#include "ui/widgets/tooltip.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

constexpr double kDelay_s = 0.5;
constexpr double kNever = 1e300;

ImGuiID last_item_key() {
  const ImGuiLastItemData& item = GImGui->LastItemData;
  if (item.ID != 0) return item.ID;
  return ImHashData(&item.Rect, sizeof item.Rect, ImGui::GetCurrentWindowRead()->ID);
}

bool keyboard_is_here() {
  const ImGuiContext& g = *GImGui;
  return g.LastItemData.ID != 0 && g.NavId == g.LastItemData.ID && !g.NavDisableHighlight &&
         g.NavDisableMouseHover;
}

// True once the pointer has rested on `key` for the delay.
bool rested(Ui& ui, ImGuiID key) {
  WidgetMemory& memory = ui.memory;
  const int frame = ImGui::GetFrameCount();
  if (memory.hovered_id != key || memory.hovered_frame < frame - 1) {
    memory.hovered_id = key;
    memory.hovered_since_s = ImGui::GetTime();
  }
  memory.hovered_frame = frame;
  // Who presses a control knows it: its tooltip stays away until the pointer comes back. One that
  // cannot be pressed explains itself all the more.
  const bool disabled = (GImGui->LastItemData.InFlags & ImGuiItemFlags_Disabled) != 0;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !disabled) memory.hovered_since_s = kNever;
  if (memory.hovered_since_s == kNever) return false;
  if (ImGui::GetTime() - memory.hovered_since_s >= kDelay_s) return true;
  ui.wants_animation = true;
  return false;
}

}  // namespace

void show_tooltip(Ui& ui, std::string_view text) {
  const float wrap = ui.px(320);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(12), ui.px(8)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(kControlRadius));
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0F);
  ImGui::PushFont(ui.fonts.caption);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(wrap);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopTextWrapPos();
  const ImVec2 min = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  ui.widgets.add({.path = "tooltip",
                  .kind = "tooltip",
                  .label = {},
                  .value = std::string(text),
                  .min = min,
                  .max = {min.x + size.x, min.y + size.y}});
  ImGui::EndTooltip();
  ImGui::PopFont();
  ImGui::PopStyleVar(3);
}

void hint(Ui& ui, std::string_view text) {
  if (text.empty() || ImGui::GetCurrentWindowRead()->SkipItems) return;
  const bool here = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || keyboard_is_here();
  if (here && rested(ui, last_item_key())) show_tooltip(ui, text);
}

void hint_at(Ui& ui, ImVec2 min, ImVec2 max, std::string_view text) {
  if (text.empty()) return;
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(min, max)) return;
  const ImRect box(min, max);
  const ImGuiID key = ImHashData(&box, sizeof box, ImGui::GetCurrentWindowRead()->ID);
  if (rested(ui, key)) show_tooltip(ui, text);
}

}  // namespace lab::ui
