#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
// --- cards ----------------------------------------------------------------------------------

namespace {

constexpr float kFirstHeight = 96;  // units, until the height of the content is known

float card_height(const Ui& ui, std::string_view path, const CardOptions& options) {
  if (options.height > 0) return ui.px(options.height);
  if (options.height < 0) {
    const float left = ImGui::GetContentRegionAvail().y;
    const float spare = options.height == -1 ? 0 : ui.px(-options.height);
    return std::max(ui.px(kFirstHeight), left - spare);
  }
  const auto known = ui.memory.card_heights.find(std::string(path));
  float height = known == ui.memory.card_heights.end() ? kFirstHeight : known->second;
  if (WidgetMemory::CardRow* row = ui.memory.card_row) {
    if (row->key.empty()) row->key = path;
    const auto tallest = ui.memory.row_heights.find(row->key);
    if (tallest != ui.memory.row_heights.end()) height = std::max(height, tallest->second);
    height += row->extra;
  }
  return std::ceil(ui.px(std::max(height + options.extra, options.least)));
}

// At the right end of the title's line, beside the title.
void card_note(Ui& ui, ImVec2 line, float title, const CardOptions& options) {
  if (options.note.empty()) return;
  ImFont* font = ui.fonts.caption;
  const float right = line.x + ImGui::GetContentRegionAvail().x, gap = ui.px(12);
  const float room = std::max(0.0F, right - line.x - title - gap);
  const float wide = std::min(room, text_size(font, options.note).x);
  const ImVec2 min(right - wide, line.y + (ui.fonts.strong->FontSize - font->FontSize) / 2);
  draw_control_text(ImGui::GetWindowDrawList(), font, min, wide, ui.theme->muted, options.note);
}

void card_title(Ui& ui, std::string_view title, const CardOptions& options) {
  if (title.empty()) return;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = std::ceil(ui.fonts.strong->FontSize);
  draw_text_fitted(ImGui::GetWindowDrawList(), ui.fonts.strong, pos, width, ui.theme->text, title);
  const float wide = std::min(width, text_size(ui.fonts.strong, title).x);
  card_note(ui, pos, wide, options);
  ImGui::ItemSize(ImVec2(wide, height));
  ImGui::ItemAdd(ImRect(pos, {pos.x + wide, pos.y + height}), 0);
  hint(ui, options.hint);
  ImGui::SetCursorScreenPos({pos.x, pos.y + height + ui.px(8)});
}

}  // namespace

bool begin_card(Ui& ui, std::string_view path, std::string_view title, const CardOptions& options) {
  const float width = options.width > 0 ? ui.px(options.width) : ImGui::GetContentRegionAvail().x;
  const float height = card_height(ui, path, options);
  const bool automatic = options.height == 0;
  ui.memory.cards.push_back({.path = std::string(path),
                             .title = std::string(title),
                             .note = std::string(options.note),
                             .automatic = automatic,
                             .row = ui.memory.card_row});
  ui.memory.card_row = nullptr;

  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.theme->card);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(12)});
  ImGuiWindowFlags flags = ImGuiWindowFlags_NavFlattened;
  if (automatic) flags |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  const std::string name(path);
  const ImVec2 size(std::max(1.0F, std::floor(width)), std::max(1.0F, std::floor(height)));
  const bool visible = ImGui::BeginChild(name.c_str(), size, true, flags);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * (options.dimmed ? 0.5F : 1));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(8)});
  if (visible) card_title(ui, title, options);
  return visible;
}

void remember_height(Ui& ui, float& known, float pixels) {
  const float height = pixels / ui.scale;
  if (std::abs(known - height) > 0.5F) ui.wants_layout = true;
  known = height;
}

void end_card(Ui& ui) {
  const WidgetMemory::Card card = std::move(ui.memory.cards.back());
  ui.memory.cards.pop_back();
  ImGui::PopStyleVar(2);
  const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
  if (card.automatic && !window->SkipItems) {
    const float content = window->DC.CursorMaxPos.y - window->DC.CursorStartPos.y - card.grown;
    remember_height(ui, ui.memory.card_heights[card.path], content + 2 * window->WindowPadding.y);
  }
  ImGui::EndChild();
  ui.memory.card_row = card.row;
  if (card.row != nullptr && card.automatic) {
    card.row->tallest = std::max(card.row->tallest, ui.memory.card_heights[card.path]);
  }
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  record_rect(ui, card.path, "card", card.title, card.note, true, min, max);
}

void begin_scroll(Ui& ui, std::string_view path, float most) {
  const auto known = ui.memory.card_heights.find(std::string(path));
  const float content = known == ui.memory.card_heights.end() ? 0 : ui.px(known->second);
  const float natural = std::ceil(std::min(content, ui.px(most)));
  const float left = std::floor(ImGui::GetContentRegionAvail().y);
  const float height = std::max({1.0F, natural, std::min(std::ceil(content), left)});
  grown_in_card(ui, height - std::max(1.0F, natural));
  ImGui::BeginChild(std::string(path).c_str(), {0, height}, false, ImGuiWindowFlags_NavFlattened);
}

void end_scroll(Ui& ui, std::string_view path) {
  const ImGuiWindow* window = ImGui::GetCurrentWindowRead();
  if (!window->SkipItems) {
    remember_height(ui, ui.memory.card_heights[std::string(path)],
                    window->DC.CursorMaxPos.y - window->DC.CursorStartPos.y);
  }
  ImGui::EndChild();
}

void grown_in_card(Ui& ui, float pixels) {
  if (!ui.memory.cards.empty()) ui.memory.cards.back().grown += pixels;
}

// --- rows of cards --------------------------------------------------------------------------

namespace {

constexpr float kGap = 12;  // units between cards

}  // namespace

// A cell narrows the window's work and content regions, as ImGui's tables do, so that everything
// that queries the remaining width or wraps text stays inside the cell.
Row::Row(Ui& ui, std::span<const float> weights, const RowOptions& options)
    : ui_(ui), weights_(weights.begin(), weights.end()), equal_(options.equal) {
  const ImGuiWindow* window = ImGui::GetCurrentWindow();
  left_ = window->DC.CursorPos.x;
  top_ = window->DC.CursorPos.y;
  total_ = ImGui::GetContentRegionAvail().x;
  bottom_ = top_;
  indent_ = window->DC.Indent.x;
  content_right_ = window->ContentRegionRect.Max.x;
  work_right_ = window->WorkRect.Max.x;
  outer_ = ui.memory.card_row;
  cards_.extra = options.extra;
  ui.memory.card_row = equal_ ? &cards_ : nullptr;
}

Row::~Row() {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  bottom_ = std::max(bottom_, window->DC.CursorMaxPos.y);
  window->DC.Indent.x = indent_;
  window->ContentRegionRect.Max.x = content_right_;
  window->WorkRect.Max.x = work_right_;
  ui_.memory.card_row = outer_;
  if (equal_ && !cards_.key.empty()) {
    float& known = ui_.memory.row_heights[cards_.key];
    if (std::abs(known - cards_.tallest) > 0.5F) ui_.wants_layout = true;
    known = cards_.tallest;
  }
  window->DC.CursorPos = {left_, top_};
  ImGui::ItemSize(ImVec2(total_, bottom_ - top_));
}

void Row::next() {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const float gap = ui_.px(kGap);
  if (cell_ >= 0) bottom_ = std::max(bottom_, window->DC.CursorPosPrevLine.y);
  ++cell_;
  float fixed = gap * static_cast<float>(weights_.size() - 1), sum = 0;
  for (const float w : weights_) (w > 0 ? sum : fixed) += w > 0 ? w : ui_.px(-w);
  const float free = std::max(0.0F, total_ - fixed);
  float left = left_;
  for (int i = 0; i <= cell_ && i < static_cast<int>(weights_.size()); ++i) {
    if (i > 0) left += width_ + gap;
    const float w = weights_[static_cast<std::size_t>(i)];
    width_ = w > 0 ? std::floor(free * w / sum) : ui_.px(-w);
  }
  if (cell_ + 1 == static_cast<int>(weights_.size())) width_ = left_ + total_ - left;
  width_ = std::max(1.0F, width_);
  window->DC.Indent.x = left - window->Pos.x - window->DC.ColumnsOffset.x + window->Scroll.x;
  window->DC.CursorPos = {left, top_};
  window->DC.CursorPosPrevLine = window->DC.CursorPos;
  window->DC.CurrLineSize = {0, 0};
  window->ContentRegionRect.Max.x = left + width_;
  window->WorkRect.Max.x = left + width_;
}

}  // namespace lab::ui
