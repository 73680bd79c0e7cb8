#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/widgets/item.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {
namespace {

constexpr float kGap = 12;  // units between cards

}  // namespace

// A cell narrows the window's idea of its own width, as ImGui's tables do: everything that asks for
// the space that is left, or wraps text, stays inside the cell.
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
