// How a page divides its width.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/pages/panel.h"

namespace lab::ui {
namespace {

constexpr float kPageEnd = 18;  // units between the last card and the end of the page

}  // namespace

float width_left(const Panel& p) {
  return ImGui::GetContentRegionAvail().x / p.ui.scale;
}

StretchedArea::StretchedArea(const Panel& p) : p_(p) {
  p.ui.memory.stretched = 0;
  top_ = ImGui::GetCursorScreenPos().y;
  room_ = ImGui::GetContentRegionAvail().y - p.ui.px(kPageEnd);
}

StretchedArea::~StretchedArea() {
  WidgetMemory& memory = p_.ui.memory;
  const float used = ImGui::GetCurrentWindowRead()->DC.CursorMaxPos.y - top_;
  const float free = (room_ - used) / p_.ui.scale + memory.stretched;
  float& known = memory.spare_heights[key_of(p_.view.page)];
  const float spare = std::max(0.0F, std::floor(free));
  if (std::abs(known - spare) > 1) {
    known = spare;
    p_.ui.wants_layout = true;
  }
}

float spare_height(const Panel& p) {
  WidgetMemory& memory = p.ui.memory;
  return memory.stretched = memory.spare_heights[key_of(p.view.page)];
}

float form_height(const Panel& p) {
  return p.folded() ? 0 : ImGui::GetContentRegionAvail().y / p.ui.scale - kPageEnd;
}

void room_for_actions(const Panel& p) {
  if (p.folded()) ImGui::SetCursorPosY(ImGui::GetCursorPosY() + p.ui.px(6));
}

void form_actions(const Panel& p, float units, const std::function<void()>& draw) {
  if (!p.folded()) {
    draw();
    return;
  }
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImVec2 back = window->DC.CursorPos, end = window->DC.CursorMaxPos;
  window->DC.CursorPos = {back.x, window->DC.CursorStartPos.y - p.ui.px(4)};
  {
    Row row(p.ui, {1, -std::min(units, width_left(p) * 0.7F)});
    row.next();
    row.next();
    draw();
  }
  window->DC.CursorPos = back;
  window->DC.CursorMaxPos = end;
}

void draw_form_and_results(const Panel& p, void (*form)(const Panel&),
                           void (*results)(const Panel&)) {
  if (p.folded()) {
    form(p);
    const StretchedArea area(p);
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
  {
    const StretchedArea area(p);
    results(p);
  }
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

Pair::Pair(const Panel& p, float units_needed, float extra) {
  if (width_left(p) < units_needed) return;
  row_.emplace(p.ui, std::initializer_list<float>{1, 1}, RowOptions{.equal = true, .extra = extra});
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
