#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

float unit_share(double share) {
  return std::isfinite(share) ? static_cast<float>(std::clamp(share, 0.0, 1.0)) : 0.0F;
}

// Lays out a display without behaviour; false when it is scrolled out of sight.
bool place(ImVec2 size, ImVec2& min, ImVec2& max) {
  min = ImGui::GetCursorScreenPos();
  max = {min.x + size.x, min.y + size.y};
  ImGui::ItemSize(size);
  return ImGui::ItemAdd(ImRect(min, max), 0);
}

void draw_share(const Ui& ui, ImVec2 min, ImVec2 max, float share, ImU32 color) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float radius = (max.y - min.y) / 2;
  const Theme& t = *ui.theme;
  const ImU32 track = t.mode == ThemeMode::Dark ? t.hover : t.active;
  list->AddRectFilled(min, max, styled(track), radius);
  if (share <= 0) return;
  const float width = std::max(2 * radius, (max.x - min.x) * share);
  list->AddRectFilled(min, {min.x + width, max.y}, styled(color), radius);
}

}  // namespace

void bar(Ui& ui, std::string_view path, double share, ImU32 color, std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  const float shown = ease(ui, path, unit_share(share));
  ImVec2 min, max;
  if (!place({width, ui.px(8)}, min, max)) return;
  draw_share(ui, {min.x, min.y + ui.px(1)}, {max.x, max.y - ui.px(1)}, shown, color);
  hint(ui, text);
  record_rect(ui, path, "bar", {}, fmt::format("{:.1f} %", 100 * unit_share(share)), true, min,
              max);
}

void progress_bar(Ui& ui, std::string_view path, double share, float width, float height) {
  const float shown = ease(ui, path, unit_share(share));
  const float wide = width > 0 ? ui.px(width) : ImGui::GetContentRegionAvail().x;
  ImVec2 min, max;
  if (!place({wide, ui.px(height)}, min, max)) return;
  draw_share(ui, min, max, shown, ui.theme->accent);
  record_rect(ui, path, "progress", {}, fmt::format("{:.1f} %", 100 * unit_share(share)), true, min,
              max);
}

void sparkline(Ui& ui, std::string_view path, std::span<const float> values, float top, ImU32 color,
               float height, std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  ImVec2 min, max;
  if (!place({width, ui.px(height)}, min, max)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float base = std::floor(max.y) - 0.5F;
  list->AddLine({min.x, base}, {max.x, base}, styled(ui.theme->plot_grid));
  std::vector<ImVec2> line;
  line.reserve(values.size());
  const float step = width / std::max(1.0F, static_cast<float>(values.size()) - 1);
  const float full = max.y - min.y - ui.px(2);
  const auto flush = [&] {
    for (std::size_t i = 1; i < line.size(); ++i) {
      const ImVec2 a = line[i - 1], b = line[i];
      list->AddQuadFilled(a, b, {b.x, max.y}, {a.x, max.y}, styled(with_alpha(color, 0.14F)));
    }
    list->AddPolyline(line.data(), static_cast<int>(line.size()), styled(color), 0,
                      std::max(1.0F, ui.px(1.5F)));
    line.clear();
  };
  // Flat fills meet without seams only when their edges are not smoothed.
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      flush();
      continue;
    }
    const float share = top > 0 ? std::clamp(values[i] / top, 0.0F, 1.0F) : 0.0F;
    line.push_back({min.x + step * static_cast<float>(i), max.y - ui.px(1) - full * share});
  }
  flush();
  list->Flags = flags;
  hint(ui, text);
  record_rect(ui, path, "sparkline", {}, fmt::format("{} values", values.size()), true, min, max);
}

}  // namespace lab::ui
