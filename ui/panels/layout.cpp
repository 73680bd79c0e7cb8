// How a page divides its width.
#include <imgui_internal.h>

#include <algorithm>

#include "ui/panels/panel.h"

namespace lab::ui {

float width_left(const Panel& p) {
  return ImGui::GetContentRegionAvail().x / p.ui.scale;
}

void draw_form_and_results(const Panel& p, void (*form)(const Panel&),
                           void (*results)(const Panel&)) {
  if (p.folded()) {
    form(p);
    results(p);
    return;
  }
  Row row(p.ui, {-280, 1});
  row.next();
  form(p);
  row.next();
  // Rows inside the results must not reach down to the end of the form.
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImVec2 form_end = window->DC.CursorMaxPos;
  window->DC.CursorMaxPos = window->DC.CursorPos;
  results(p);
  ImVec2& end = window->DC.CursorMaxPos;
  end = {std::max(end.x, form_end.x), std::max(end.y, form_end.y)};
}

Card::Card(const Panel& p, std::string_view path, std::string_view title,
           const CardOptions& options)
    : ui_(p.ui), visible_(begin_card(p.ui, path, title, options)) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui_.px(8), ui_.px(8)});
}

Card::~Card() {
  ImGui::PopStyleVar();
  end_card(ui_);
}

Fields::Fields(const Panel& p)
    : ui_(p.ui),
      columns_(p.folded() ? std::clamp(static_cast<int>(width_left(p) / 190), 1, 4) : 1) {}

void Fields::next() {
  if (columns_ == 1) return;
  if (field_++ % columns_ == 0) {
    row_.reset();
    const std::vector<float> weights(static_cast<std::size_t>(columns_), 1.0F);
    row_.emplace(ui_, weights);
  }
  row_->next();
}

Pair::Pair(const Panel& p, float units_needed) {
  if (width_left(p) >= units_needed) row_.emplace(p.ui, std::initializer_list<float>{1, 1});
}

void Pair::next() {
  if (row_) row_->next();
}

void synthetic_badge(const Panel& p) {
  ImGui::SameLine();
  badge(p.ui, "synthetic", Tone::Warning);
  hint(p.ui, "These figures come from made-up images, not from a real data set.");
}

}  // namespace lab::ui
