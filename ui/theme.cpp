#include "ui/theme.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace lab::ui {
// --- colours --------------------------------------------------------------------------------

namespace {

constexpr ImU32 rgb(unsigned hex) {
  return IM_COL32((hex >> 16) & 0xFF, (hex >> 8) & 0xFF, hex & 0xFF, 0xFF);
}

constexpr Theme kDark{
    .mode = ThemeMode::Dark,
    .page = rgb(0x0f1216),
    .card = rgb(0x171b21),
    .raised = rgb(0x1f252d),
    .border = rgb(0x2a313b),
    .text = rgb(0xe6e9ee),
    .muted = rgb(0x97a1ae),
    .accent = rgb(0x5596ff),
    .accent_text = rgb(0x08111f),
    .disabled = rgb(0x75808d),
    .good = rgb(0x3fb970),
    .warning = rgb(0xe0a530),
    .bad = rgb(0xf2716b),
    .plot_grid = rgb(0x232931),
    .plot_axis = rgb(0x3d4653),
    .hover = rgb(0x29303a),
    .active = rgb(0x323b47),
};

constexpr Theme kLight{
    .mode = ThemeMode::Light,
    .page = rgb(0xf4f5f7),
    .card = rgb(0xffffff),
    .raised = rgb(0xeef1f4),
    .border = rgb(0xdde1e7),
    .text = rgb(0x1b1f24),
    .muted = rgb(0x57626f),
    .accent = rgb(0x1f6feb),
    .accent_text = rgb(0xffffff),
    .disabled = rgb(0x7a8591),
    .good = rgb(0x137a3c),
    .warning = rgb(0x8f5f00),
    .bad = rgb(0xc62f2f),
    .plot_grid = rgb(0xeceff2),
    .plot_axis = rgb(0xb9c1cb),
    .hover = rgb(0xe4e8ed),
    .active = rgb(0xd8dee5),
};

// Okabe-Ito without black, plus grey; the light variants are darkened to 3:1 on white.
constexpr std::array<ImU32, 8> kSeriesDark{rgb(0xe69f00), rgb(0x56b4e9), rgb(0x1bb58a),
                                           rgb(0xf0e442), rgb(0x3f8fd9), rgb(0xe8703a),
                                           rgb(0xd48ab4), rgb(0xaab3be)};
constexpr std::array<ImU32, 8> kSeriesLight{rgb(0xb87900), rgb(0x2a8cc4), rgb(0x00845f),
                                            rgb(0x8f8400), rgb(0x0068a6), rgb(0xcc5500),
                                            rgb(0xb4578c), rgb(0x5c6672)};

// Apart from every colour of a series.
constexpr std::array<ImU32, 4> kCoolDark{rgb(0x5fd0d6), rgb(0x8b9cf5), rgb(0xb9a3ff),
                                         rgb(0x9fd8f0)};
constexpr std::array<ImU32, 4> kCoolLight{rgb(0x0f7f86), rgb(0x5667d8), rgb(0x7a55c9),
                                          rgb(0x3f7396)};
constexpr std::array<ImU32, 4> kWarmDark{rgb(0xffb27d), rgb(0xf09aa6), rgb(0xe6c08a),
                                         rgb(0xff8f6b)};
constexpr std::array<ImU32, 4> kWarmLight{rgb(0xa85a20), rgb(0xb0506a), rgb(0x8a6a30),
                                          rgb(0xc0432c)};

// Colours of emulated GPUs, distinct from those of CPUs and of CUDA GPUs.
constexpr std::array<ImU32, 4> kEmulatedDark{rgb(0x60f0a4), rgb(0xbe6ea0), rgb(0xa4a41e),
                                             rgb(0xb04cf0)};
constexpr std::array<ImU32, 4> kEmulatedLight{rgb(0x1e5a00), rgb(0x64008c), rgb(0xe600b0),
                                              rgb(0x004678)};

// Apart from every colour of a device.
constexpr std::array<ImU32, kRunColors> kRunsDark{rgb(0xdf6fe6), rgb(0xa3d63f), rgb(0xff6fae),
                                                  rgb(0xb08a5e), rgb(0x4cae4f), rgb(0xe3e7ec)};
constexpr std::array<ImU32, kRunColors> kRunsLight{rgb(0xb02fc4), rgb(0x4c8a12), rgb(0xd4246f),
                                                   rgb(0x5a4328), rgb(0x9a1414), rgb(0x2c333c)};

double linear(unsigned channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(ImU32 c) {
  return 0.2126 * linear((c >> IM_COL32_R_SHIFT) & 0xFF) +
         0.7152 * linear((c >> IM_COL32_G_SHIFT) & 0xFF) +
         0.0722 * linear((c >> IM_COL32_B_SHIFT) & 0xFF);
}

template <std::size_t N>
ImU32 pick(const std::array<ImU32, N>& colors, int index) {
  const int n = static_cast<int>(N);
  return colors[static_cast<std::size_t>(((index % n) + n) % n)];
}

}  // namespace

const Theme& theme(ThemeMode mode) {
  return mode == ThemeMode::Dark ? kDark : kLight;
}

ImU32 series_color(const Theme& theme, int index) {
  return pick(theme.mode == ThemeMode::Dark ? kSeriesDark : kSeriesLight, index);
}

ImU32 run_color(const Theme& theme, int index) {
  return pick(theme.mode == ThemeMode::Dark ? kRunsDark : kRunsLight, index);
}

ImU32 device_color(const Theme& theme, Device device) {
  const bool dark = theme.mode == ThemeMode::Dark;
  switch (device.kind) {
    case DeviceKind::Cpu: return pick(dark ? kCoolDark : kCoolLight, device.index);
    case DeviceKind::Cuda: break;
    case DeviceKind::Emulated: return pick(dark ? kEmulatedDark : kEmulatedLight, device.index);
  }
  return pick(dark ? kWarmDark : kWarmLight, device.index);
}

ImU32 with_alpha(ImU32 color, float alpha) {
  const auto a = static_cast<ImU32>(std::lround(std::clamp(alpha, 0.0F, 1.0F) * 255.0F));
  return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

double contrast(ImU32 a, ImU32 b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

// --- ImGui's style --------------------------------------------------------------------------

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
  s.DisplaySafeAreaPadding = {px(4), px(4)};
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
