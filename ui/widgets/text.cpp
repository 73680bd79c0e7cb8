#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/item.h"
#include "ui/widgets/tooltip.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

void wrapped(ImFont* font, ImU32 color, std::string_view text) {
  if (text.empty()) return;
  ImGui::PushFont(font);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

// An item without behaviour, so that hint() can follow it.
bool text_item(ImVec2 size) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImGui::ItemSize(size);
  return ImGui::ItemAdd(ImRect(pos, {pos.x + size.x, pos.y + size.y}), 0);
}

// A value that does not fit beside its label stands below it, wrapped.
void fact_line(Ui& ui, std::string_view label, std::string_view value, ImU32 color,
               std::string_view text) {
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImFont* font = ui.fonts.body;
  const float line = ui.px(18);
  const float label_width = std::min(text_size(font, label).x, width);
  const float wanted = text_size(font, value).x;
  const bool beside = label_width + ui.px(12) + wanted <= width;
  const ImVec2 below = font->CalcTextSizeA(font->FontSize, FLT_MAX, width, value.data(),
                                           value.data() + value.size());
  if (!text_item({width, beside ? line : line + below.y})) return;
  const float y = pos.y + (line - font->FontSize) / 2;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text_fitted(list, font, {pos.x, y}, width, ui.theme->muted, label);
  if (beside) {
    draw_text(list, font, {pos.x + width - wanted, y}, color, value);
  } else {
    list->AddText(font, font->FontSize, {std::round(pos.x), std::round(pos.y + line)},
                  styled(color), value.data(), value.data() + value.size(), width);
  }
  hint(ui, text);
}

}  // namespace

void title(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.title, ui.theme->text, text);
}

void body(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.body, ui.theme->text, text);
}

void muted(Ui& ui, std::string_view text) {
  wrapped(ui.fonts.body, ui.theme->muted, text);
}

void caption(Ui& ui, std::string_view text) {
  ImFont* font = ui.fonts.caption;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float wide = std::min(width, text_size(font, text).x);
  if (!text_item({wide, font->FontSize})) return;
  if (draw_text_fitted(ImGui::GetWindowDrawList(), font, pos, width, ui.theme->muted, text)) {
    hint(ui, text);
  }
}

void number(Ui& ui, std::string_view text, ImFont* font) {
  if (font == nullptr) font = ui.fonts.body;
  const std::size_t space = text.rfind(' ');
  const std::string_view digits = text.substr(0, space);
  const std::string_view unit =
      space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  ImFont* unit_font = font == ui.fonts.figure ? ui.fonts.body : font;
  const float gap = unit.empty() ? 0 : ui.px(font == ui.fonts.figure ? 6 : 4);
  const float wide = text_size(font, digits).x;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  if (!text_item({wide + gap + text_size(unit_font, unit).x, font->FontSize})) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, font, pos, ui.theme->text, digits);
  // Both on one baseline.
  const float rise = font->Ascent - unit_font->Ascent;
  draw_text(list, unit_font, {pos.x + wide + gap, pos.y + rise}, ui.theme->muted, unit);
}

void fact(Ui& ui, std::string_view label, std::string_view value, std::string_view text) {
  fact_line(ui, label, value, ui.theme->text, text);
}

void fact(Ui& ui, std::string_view label, const std::string& value, std::string_view text) {
  fact_line(ui, label, value, ui.theme->text, text);
}

void fact(Ui& ui, std::string_view label, const Maybe<std::string>& value, std::string_view text) {
  if (value) {
    fact_line(ui, label, *value, ui.theme->text, text);
    return;
  }
  std::string why = "Not available: " + value.reason();
  if (!text.empty()) why.append("\n").append(text);
  fact_line(ui, label, "N/A", ui.theme->muted, why);
}

}  // namespace lab::ui
