#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {

bool empty_state(Ui& ui, std::string_view path, std::string_view sentence,
                 std::string_view button_label) {
  if (sentence.empty()) sentence = "Nothing here yet.";
  ImFont* font = ui.fonts.body;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 avail = ImGui::GetContentRegionAvail();
  const float wrap = std::max(ui.px(120), std::min(avail.x - ui.px(32), ui.px(420)));
  const ImVec2 text = font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, sentence.data(),
                                          sentence.data() + sentence.size());
  const bool with_button = !button_label.empty();
  const float content = text.y + (with_button ? ui.px(16 + kControlHeight) : 0);
  // A little above the middle of the room there is; only the least of it is asked for.
  const float least = ui.px(24);
  const float top = std::max(least, std::round((avail.y - content) * 0.42F));
  grown_in_card(ui, top - least);
  const float x = pos.x + std::max(0.0F, (avail.x - text.x) / 2);
  ImGui::SetCursorScreenPos({x, pos.y + top});
  draw_text_centred(ImGui::GetWindowDrawList(), font, {pos.x + avail.x / 2, pos.y + top}, wrap,
                    ui.theme->muted, sentence);
  ImGui::Dummy(text);
  bool clicked = false;
  if (with_button) {
    const float width = text_size(font, button_label).x + ui.px(28);
    ImGui::SetCursorScreenPos(
        {pos.x + std::max(0.0F, (avail.x - width) / 2), pos.y + top + text.y + ui.px(16)});
    clicked = button(ui, path, button_label, {.kind = ButtonKind::Primary});
  } else {
    record_rect(ui, path, "empty", sentence, {}, true, {x, pos.y + top},
                {x + text.x, pos.y + top + text.y});
  }
  ImGui::Dummy({1, ui.px(16)});
  return clicked;
}

}  // namespace lab::ui
