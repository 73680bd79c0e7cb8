#include "ui/widgets/item.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/fonts.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/line_breaks.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

Item add_button_item(ImGuiID id, const ImRect& box, bool enabled, bool nav) {
  enabled = enabled && (GImGui->CurrentItemFlags & ImGuiItemFlags_Disabled) == 0;
  Item item{.min = box.Min, .max = box.Max, .id = id};
  ImGuiItemFlags flags = ImGuiItemFlags_None;
  if (!nav) flags |= ImGuiItemFlags_NoNav | ImGuiItemFlags_NoTabStop;
  if (!enabled) flags |= ImGuiItemFlags_Disabled;
  item.visible = ImGui::ItemAdd(box, id, nullptr, flags);
  if (!item.visible) return item;
  item.pressed = ImGui::ButtonBehavior(box, id, &item.hovered, &item.held);
  item.pressed = enabled && (item.pressed || enter_pressed_on(id));
  if (!enabled) item.held = false;
  return item;
}

}  // namespace

Item control(std::string_view path, ImVec2 size, bool enabled) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImVec2 pos = window->DC.CursorPos;
  if (window->SkipItems) return {};
  const ImGuiID id = window->GetID(path.data(), path.data() + path.size());
  const ImRect box(pos, {pos.x + size.x, pos.y + size.y});
  ImGui::ItemSize(size);
  return add_button_item(id, box, enabled, true);
}

Item control_at(std::string_view path, ImVec2 min, ImVec2 max, bool enabled, bool nav) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (window->SkipItems) return {};
  const ImGuiID id = window->GetID(path.data(), path.data() + path.size());
  return add_button_item(id, ImRect(min, max), enabled, nav);
}

bool has_keys(const Item& item) {
  return item.id != 0 && GImGui->NavId == item.id && !GImGui->IO.WantTextInput;
}

bool last_item_has_keys() {
  return has_keys(Item{.min = {}, .max = {}, .id = GImGui->LastItemData.ID});
}

void focus_item(ImGuiID id) {
  if (GImGui->ActiveId != 0) ImGui::ClearActiveID();
  ImGui::SetFocusID(id, ImGui::GetCurrentWindow());
  GImGui->NavDisableHighlight = false;
}

void row_background(const Ui& ui, const Item& item, bool selected) {
  const Theme& t = *ui.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float radius = ui.px(kControlRadius);
  if (selected) {
    list->AddRectFilled(item.min, item.max, styled(with_alpha(t.accent, 0.14F)), radius);
  } else if (item.hovered) {
    list->AddRectFilled(item.min, item.max, styled(item.held ? t.active : t.hover), radius);
  }
}

EvenColumns even_columns(std::size_t count, std::size_t fit) {
  const std::size_t lines = (count + fit - 1) / fit;
  return {lines, (count + lines - 1) / lines};
}

void focus_ring(const Ui& ui, const Item& item, float radius) {
  const ImGuiContext& g = *GImGui;
  if (g.NavId != item.id || g.NavDisableHighlight) return;
  const float gap = ui.px(2);
  ImGui::GetWindowDrawList()->AddRect({item.min.x - gap, item.min.y - gap},
                                      {item.max.x + gap, item.max.y + gap}, ui.theme->accent,
                                      radius + gap, ImDrawFlags_None, std::max(1.5F, ui.px(1.6F)));
}

void record_rect(Ui& ui, std::string_view path, std::string_view kind, std::string_view label,
                 std::string_view value, bool enabled, ImVec2 min, ImVec2 max) {
  const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
  if (window->SkipItems) return;
  ImRect box(min, max);
  box.ClipWith(window->ClipRect);
  if (box.Min.x >= box.Max.x || box.Min.y >= box.Max.y) return;
  ui.widgets.add({.path = std::string(path),
                  .kind = std::string(kind),
                  .label = std::string(label),
                  .value = std::string(value),
                  .min = box.Min,
                  .max = box.Max,
                  .enabled = enabled && ui.memory.lock.empty()});
}

void record(Ui& ui, const Item& item, std::string_view path, std::string_view kind,
            std::string_view label, std::string_view value, bool enabled) {
  if (item.visible) record_rect(ui, path, kind, label, value, enabled, item.min, item.max);
}

void record_item(Ui& ui, std::string_view path, std::string_view kind, std::string_view label,
                 std::string_view value, bool enabled) {
  record_rect(ui, path, kind, label, value, enabled, ImGui::GetItemRectMin(),
              ImGui::GetItemRectMax());
}

void note_text(const ImFont* font, std::string_view text) {
  if (FontSet* fonts = font_set()) fonts->note(font, text);
}

ImVec2 text_size(ImFont* font, std::string_view text) {
  note_text(font, text);
  if (text.empty()) return {0, font->FontSize};  // ImGui treats a null begin as a C string
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.data(), text.data() + text.size());
}

float draw_text(ImDrawList* list, ImFont* font, ImVec2 pos, ImU32 color, std::string_view text) {
  if (text.empty()) return 0;  // ImGui treats a null begin as a C string
  list->AddText(font, font->FontSize, {std::round(pos.x), std::round(pos.y)}, styled(color),
                text.data(), text.data() + text.size());
  return text_size(font, text).x;
}

std::string fitted_text(ImFont* font, float width, std::string_view text) {
  if (text_size(font, text).x <= width) return std::string(text);
  constexpr std::string_view kEllipsis = "…";
  const float room = std::max(0.0F, width - text_size(font, kEllipsis).x);
  const char* end = nullptr;
  font->CalcTextSizeA(font->FontSize, room, 0, text.data(), text.data() + text.size(), &end);
  std::string cut(text.substr(0, static_cast<std::size_t>(end - text.data())));
  // The first digits of a number would be another number.
  const auto in_number = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  if (in_number(text[cut.size()])) {
    while (!cut.empty() && in_number(cut.back())) cut.pop_back();
  }
  while (!cut.empty() && cut.back() == ' ') cut.pop_back();
  return cut.append(kEllipsis);
}

bool draw_text_fitted(ImDrawList* list, ImFont* font, ImVec2 pos, float width, ImU32 color,
                      std::string_view text) {
  if (text_size(font, text).x <= width) {  // without a copy
    draw_text(list, font, pos, color, text);
    return false;
  }
  draw_text(list, font, pos, color, fitted_text(font, width, text));
  return true;
}

bool draw_control_text(ImDrawList* list, ImFont* font, ImVec2 pos, float width, ImU32 color,
                       std::string_view text) {
  const bool cut = draw_text_fitted(list, font, pos, width, color, text);
  if (FontSet* fonts = font_set(); cut && fonts != nullptr) fonts->note_cut(text);
  return cut;
}

void draw_text_centred(ImDrawList* list, ImFont* font, ImVec2 middle_top, float wrap, ImU32 color,
                       std::string_view text) {
  note_text(font, text);
  const std::string lines = break_lines(font, text, wrap);
  float y = middle_top.y;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string_view line = std::string_view(lines).substr(at, end - at);
    draw_text(list, font, {middle_top.x - text_size(font, line).x / 2, y}, color, line);
    y += font->FontSize;
    at = end + 1;
  }
}

void control_label(Ui& ui, std::string_view label) {
  if (label.empty()) return;
  const float height = std::round(ui.fonts.caption->FontSize);
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  draw_control_text(ImGui::GetWindowDrawList(), ui.fonts.caption, pos, width, ui.theme->muted,
                    label);
  ImGui::SetCursorScreenPos({pos.x, pos.y + height + ui.px(4)});
}

float ease(Ui& ui, std::string_view path, float target) {
  const auto [it, fresh] = ui.eased.try_emplace(std::string(path), target);
  float& value = it->second;
  if (fresh || !std::isfinite(value)) value = target;
  constexpr float kTimeConstant = 0.05F;  // seconds; 95 % of the way after 150 ms
  // Not clamped: if frames are a second apart, a single frame completes the animation.
  value += (target - value) * (1 - std::exp(-ImGui::GetIO().DeltaTime / kTimeConstant));
  if (std::abs(target - value) < 0.002F) {
    value = target;
  } else {
    ui.wants_animation = true;
  }
  return value;
}

ImU32 mix(ImU32 a, ImU32 b, float share) {
  const ImVec4 x = ImGui::ColorConvertU32ToFloat4(a), y = ImGui::ColorConvertU32ToFloat4(b);
  const auto lerp = [share](float from, float to) { return from + (to - from) * share; };
  return ImGui::ColorConvertFloat4ToU32(
      {lerp(x.x, y.x), lerp(x.y, y.y), lerp(x.z, y.z), lerp(x.w, y.w)});
}

ImU32 styled(ImU32 color) {
  return ImGui::GetColorU32(color);
}

// --- locks ----------------------------------------------------------------------------------

// Fainter than this, the muted labels would fall below a contrast of 3:1.
constexpr float kLockedAlpha = 0.65F;

Locked::Locked(Ui& ui, std::string_view why) : ui_(ui) {
  if (why.empty()) return;
  ui.memory.lock = why;
  ImGui::PushItemFlag(ImGuiItemFlags_Disabled, true);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * kLockedAlpha);
}

Locked::~Locked() {
  if (ui_.memory.lock.empty()) return;
  ui_.memory.lock.clear();
  ImGui::PopStyleVar();
  ImGui::PopItemFlag();
}

}  // namespace lab::ui
