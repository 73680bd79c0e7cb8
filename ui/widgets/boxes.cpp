// Filled boxes that say something: errors, notes and badges.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

void box(Ui& ui, std::string_view path, std::string_view kind, std::string_view sentence, Icon icon,
         ImU32 color) {
  if (sentence.empty()) return;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float pad = ui.px(12), icon_side = ui.px(20), gap = ui.px(10);
  ImFont* font = ui.fonts.body;
  const float wrap = std::max(ui.px(40), width - 2 * pad - icon_side - gap);
  const ImVec2 text = font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, sentence.data(),
                                          sentence.data() + sentence.size());
  const float height = std::ceil(std::max(text.y, icon_side) + 2 * ui.px(10));
  const ImVec2 end(pos.x + width, pos.y + height);
  ImGui::ItemSize(ImVec2(width, height));
  if (!ImGui::ItemAdd(ImRect(pos, end), 0)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(pos, end, styled(with_alpha(color, 0.08F)), ui.px(kControlRadius));
  list->AddRect(pos, end, styled(with_alpha(color, 0.30F)), ui.px(kControlRadius), 0,
                std::max(1.0F, std::floor(ui.scale)));
  draw_icon(list, icon, {pos.x + pad, pos.y + ui.px(10)}, icon_side, styled(color));
  list->AddText(font, font->FontSize,
                {std::round(pos.x + pad + icon_side + gap), std::round(pos.y + ui.px(10))},
                styled(ui.theme->text), sentence.data(), sentence.data() + sentence.size(), wrap);
  record_rect(ui, path, kind, sentence, {}, true, pos, end);
}

ImU32 tone_color(const Theme& t, Tone tone) {
  switch (tone) {
    case Tone::Accent: return t.accent;
    case Tone::Good: return t.good;
    case Tone::Warning: return t.warning;
    case Tone::Bad: return t.bad;
    case Tone::Neutral: break;
  }
  return t.muted;
}

}  // namespace

void error_box(Ui& ui, std::string_view path, std::string_view sentence) {
  box(ui, path, "error", sentence, kIconError, ui.theme->bad);
}

void note_box(Ui& ui, std::string_view path, std::string_view sentence) {
  box(ui, path, "note", sentence, kIconInfo, ui.theme->accent);
}

void badge(Ui& ui, std::string_view text, Tone tone) {
  const ImU32 color = tone_color(*ui.theme, tone);
  ImFont* font = ui.fonts.caption;
  const ImVec2 inner = text_size(font, text);
  const ImVec2 size(inner.x + ui.px(16), ui.px(20));
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 end(pos.x + size.x, pos.y + size.y);
  ImGui::ItemSize(size);
  if (!ImGui::ItemAdd(ImRect(pos, end), 0)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(pos, end, styled(with_alpha(color, 0.14F)), size.y / 2);
  draw_text(list, font, {pos.x + ui.px(8), pos.y + (size.y - font->FontSize) / 2}, color, text);
}

}  // namespace lab::ui
