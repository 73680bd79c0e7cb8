#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ui/pages/frame.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::array<Icon, kPages> kPageIcons = {
    kIconDevices, kIconMemory, kIconTransfers, kIconMatmul, kIconTraining, kIconScaling, kIconLog};

Page page_of(JobKind kind) {
  switch (kind) {
    case JobKind::Memory: return Page::Memory;
    case JobKind::Transfers: return Page::Transfers;
    case JobKind::Matmul: return Page::Matmul;
    case JobKind::Training: return Page::Training;
    case JobKind::Scaling: return Page::Scaling;
  }
  return Page::Devices;
}

void draw_entry(const Panel& p, const Item& item, Page page, bool selected, bool active) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 fill = selected ? with_alpha(ui.theme->accent, 0.16F) : ui.theme->hover;
  if (selected || item.hovered) list->AddRectFilled(item.min, item.max, styled(fill), ui.px(6));
  focus_ring(ui, item, ui.px(6));
  const ImU32 ink = selected ? ui.theme->accent : item.hovered ? ui.theme->text : ui.theme->muted;
  const float side = ui.px(20);
  const float middle = (item.min.y + item.max.y) / 2;
  draw_icon(list, kPageIcons[static_cast<std::size_t>(page)],
            {item.min.x + ui.px(10), middle - side / 2}, side, styled(ink));
  if (!p.narrow()) {
    ImFont* font = ui.fonts.body;
    draw_text(list, font, {item.min.x + ui.px(40), middle - font->FontSize / 2},
              selected ? ui.theme->text : ink, name_of(page));
  }
  if (active) {
    const ImVec2 dot = p.narrow() ? ImVec2(item.max.x - ui.px(6), item.min.y + ui.px(6))
                                  : ImVec2(item.max.x - ui.px(12), middle);
    list->AddCircleFilled(dot, ui.px(3.5F), styled(ui.theme->good));
  }
}

void rail_entry(const Panel& p, Page page, float height) {
  const std::string path = fmt::format("rail/{}", key_of(page));
  const Item item = control(path, {ImGui::GetWindowSize().x - p.ui.px(12), height});
  const bool selected = p.view.page == page;
  const bool active = p.model.job() && page_of(p.model.job()->kind) == page;
  if (item.visible) {
    draw_entry(p, item, page, selected, active);
    const std::string job = active ? p.model.job()->title : "";
    // Where the name is to be seen only a running job says more.
    hint(p.ui, p.narrow() ? fmt::format("{}, Ctrl+{}{}{}", name_of(page),
                                        static_cast<int>(page) + 1, active ? ": " : "", job)
                          : job);
  }
  record(p.ui, item, path, "tab", name_of(page), selected ? "selected" : "");
  if (item.pressed) p.view.page = page;
}

void rail_foot(const Panel& p) {
  const bool dark = p.view.mode == ThemeMode::Dark;
  if (icon_button(p.ui, "rail/theme", dark ? kIconSun : kIconMoon,
                  dark ? "Light theme, Ctrl+T" : "Dark theme, Ctrl+T")) {
    p.view.mode = dark ? ThemeMode::Light : ThemeMode::Dark;
  }
  if (!p.narrow()) ImGui::SameLine(0, p.ui.px(8));
  if (icon_button(p.ui, "rail/help", kIconHelp, "Keyboard shortcuts, F1")) {
    p.view.help_open = !p.view.help_open;
  }
}

}  // namespace

void draw_rail(const Panel& p) {
  Ui& ui = p.ui;
  const float pad = ui.px(6);
  const float gap = ui.px(2);
  const float foot = ui.px(p.narrow() ? 70 : 36);
  const ImVec2 corner = ImGui::GetWindowPos();
  const ImVec2 size = ImGui::GetWindowSize();
  ImGui::GetWindowDrawList()->AddLine({corner.x + size.x - 1, corner.y},
                                      {corner.x + size.x - 1, corner.y + size.y},
                                      styled(ui.theme->border));
  const float room = size.y - foot - 2 * pad;
  const float height = std::clamp(room / kPages - gap, ui.px(24), ui.px(40));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(2), gap});
  ImGui::SetCursorPos({pad, pad});
  ImGui::BeginGroup();
  for (int page = 0; page < kPages; ++page) rail_entry(p, static_cast<Page>(page), height);
  ImGui::EndGroup();
  ImGui::SetCursorPos({p.narrow() ? (size.x - ui.px(32)) / 2 : ui.px(10), size.y - foot});
  ImGui::BeginGroup();
  rail_foot(p);
  ImGui::EndGroup();
  ImGui::PopStyleVar();
}

}  // namespace lab::ui
