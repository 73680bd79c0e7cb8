// Maps the lab's theme onto ImGui's style, so that what plain ImGui draws (popups, scroll bars,
// text fields) looks like the rest.
#include <imgui.h>

#include <cmath>

#include "ui/theme.h"

namespace lab::ui {
namespace {

void apply_metrics(ImGuiStyle& s, float scale) {
  const auto px = [scale](float units) { return std::round(units * scale); };
  s.WindowPadding = {px(16), px(16)};
  s.FramePadding = {px(10), px(7)};
  s.CellPadding = {px(8), px(5)};
  s.ItemSpacing = {px(8), px(8)};
  s.ItemInnerSpacing = {px(8), px(4)};
  s.IndentSpacing = px(20);
  s.ScrollbarSize = px(10);
  s.GrabMinSize = px(24);
  s.WindowRounding = 0;
  s.ChildRounding = px(8);
  s.FrameRounding = px(6);
  s.PopupRounding = px(6);
  s.ScrollbarRounding = px(5);
  s.GrabRounding = px(6);
  s.TabRounding = px(6);
  s.WindowBorderSize = 0;
  s.ChildBorderSize = 1;
  s.PopupBorderSize = 1;
  s.FrameBorderSize = 1;
  s.TabBorderSize = 0;
  s.WindowTitleAlign = {0, 0.5F};
  s.WindowMenuButtonPosition = ImGuiDir_None;
  s.DisplaySafeAreaPadding = {0, 0};
  s.DisabledAlpha = 0.5F;
  s.MouseCursorScale = scale;
  s.CurveTessellationTol = 0.6F;
  s.CircleTessellationMaxError = 0.2F;
}

void apply_colors(ImGuiStyle& s, const Theme& t) {
  const auto set = [&s](ImGuiCol slot, ImU32 color) {
    s.Colors[slot] = ImGui::ColorConvertU32ToFloat4(color);
  };
  const ImU32 none = with_alpha(t.card, 0);
  set(ImGuiCol_Text, t.text);
  set(ImGuiCol_TextDisabled, t.muted);
  set(ImGuiCol_WindowBg, t.page);
  set(ImGuiCol_ChildBg, none);
  set(ImGuiCol_PopupBg, t.raised);
  set(ImGuiCol_Border, t.border);
  set(ImGuiCol_BorderShadow, none);
  set(ImGuiCol_FrameBg, t.raised);
  set(ImGuiCol_FrameBgHovered, t.hover);
  set(ImGuiCol_FrameBgActive, t.raised);
  set(ImGuiCol_TitleBg, t.card);
  set(ImGuiCol_TitleBgActive, t.card);
  set(ImGuiCol_TitleBgCollapsed, t.card);
  set(ImGuiCol_MenuBarBg, t.card);
  set(ImGuiCol_ScrollbarBg, none);
  set(ImGuiCol_ScrollbarGrab, with_alpha(t.muted, 0.30F));
  set(ImGuiCol_ScrollbarGrabHovered, with_alpha(t.muted, 0.50F));
  set(ImGuiCol_ScrollbarGrabActive, with_alpha(t.muted, 0.65F));
  set(ImGuiCol_CheckMark, t.accent);
  set(ImGuiCol_SliderGrab, t.accent);
  set(ImGuiCol_SliderGrabActive, t.accent);
  set(ImGuiCol_Button, t.raised);
  set(ImGuiCol_ButtonHovered, t.hover);
  set(ImGuiCol_ButtonActive, t.active);
  set(ImGuiCol_Header, with_alpha(t.accent, 0.16F));
  set(ImGuiCol_HeaderHovered, t.hover);
  set(ImGuiCol_HeaderActive, t.active);
  set(ImGuiCol_Separator, t.border);
  set(ImGuiCol_SeparatorHovered, t.accent);
  set(ImGuiCol_SeparatorActive, t.accent);
  set(ImGuiCol_ResizeGrip, none);
  set(ImGuiCol_ResizeGripHovered, none);
  set(ImGuiCol_ResizeGripActive, none);
  set(ImGuiCol_Tab, none);
  set(ImGuiCol_TabHovered, t.hover);
  set(ImGuiCol_TabActive, t.raised);
  set(ImGuiCol_TabUnfocused, none);
  set(ImGuiCol_TabUnfocusedActive, t.raised);
  set(ImGuiCol_PlotLines, t.accent);
  set(ImGuiCol_PlotLinesHovered, t.accent);
  set(ImGuiCol_PlotHistogram, t.accent);
  set(ImGuiCol_PlotHistogramHovered, t.accent);
  set(ImGuiCol_TableHeaderBg, none);
  set(ImGuiCol_TableBorderStrong, t.border);
  set(ImGuiCol_TableBorderLight, with_alpha(t.border, 0.6F));
  set(ImGuiCol_TableRowBg, none);
  set(ImGuiCol_TableRowBgAlt, none);
  set(ImGuiCol_TextSelectedBg, with_alpha(t.accent, 0.35F));
  set(ImGuiCol_DragDropTarget, t.accent);
  set(ImGuiCol_NavHighlight, t.accent);
  set(ImGuiCol_NavWindowingHighlight, t.accent);
  set(ImGuiCol_NavWindowingDimBg, with_alpha(t.page, 0.5F));
  set(ImGuiCol_ModalWindowDimBg, with_alpha(IM_COL32_BLACK, 0.5F));
}

}  // namespace

void apply_style(const Theme& theme, float scale) {
  ImGuiStyle style;
  apply_metrics(style, scale);
  apply_colors(style, theme);
  ImGui::GetStyle() = style;
}

}  // namespace lab::ui
