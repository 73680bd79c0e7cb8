// Tooltips: when one is shown, how its text is laid out, and where it is placed.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"
#include "ui/widgets/widgets.h"

namespace lab::ui {

void add_row(std::string& text, std::string_view label, std::string_view value) {
  if (!text.empty()) text += '\n';
  text.append(label).append("\t").append(value);
}

// --- layout ---------------------------------------------------------------------------------

namespace {

constexpr float kPadX = 12, kPadY = 8, kMostWidth = 308;  // units
constexpr float kColumnGap = 16, kRowGap = 2, kPartGap = 4, kParagraphGap = 10;

struct TextPart {
  enum class Kind { Title, Sentence, Row } kind = Kind::Sentence;
  bool starts_paragraph = false;
  std::string_view text, value = {};
};

bool is_sentence(std::string_view line) {
  return line.ends_with('.') || line.ends_with("。");
}

std::vector<TextPart> parts_of(std::string_view text) {
  std::vector<TextPart> parts;
  bool starts_paragraph = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const bool ends_paragraph = end == text.size() || text.substr(end + 1).starts_with('\n');
    at = end + 1;
    if (line.empty()) {
      starts_paragraph = true;
      continue;
    }
    TextPart part{.starts_paragraph = std::exchange(starts_paragraph, false), .text = line};
    if (const std::size_t tab = line.find('\t'); tab != std::string_view::npos) {
      part.kind = TextPart::Kind::Row;
      part.text = line.substr(0, tab);
      part.value = line.substr(tab + 1);
    } else if (part.starts_paragraph && !ends_paragraph && !is_sentence(line)) {
      part.kind = TextPart::Kind::Title;
    }
    parts.push_back(part);
  }
  return parts;
}

// Lines of text in one font, at a position in the tooltip's content.
struct TextBlock {
  ImFont* font = nullptr;
  ImU32 color = 0;
  ImVec2 pos{0, 0};
  std::string lines;
};

struct TooltipLayout {
  std::vector<TextBlock> blocks;
  std::vector<float> rows;  // the middle of the first line of each
  ImVec2 size{0, 0};

  // Returns the size of the text, wrapped at `width`.
  ImVec2 add(ImFont* font, ImU32 color, ImVec2 pos, float width, std::string_view text) {
    std::string lines = break_lines(font, text, width);
    const ImVec2 used = text_size(font, lines);
    blocks.push_back({font, color, pos, std::move(lines)});
    size.x = std::max(size.x, pos.x + used.x);
    size.y = std::max(size.y, pos.y + used.y);
    return used;
  }
};

// The two columns of a tooltip's rows, in pixels.
struct RowColumns {
  float label = 0, value = 0;
};

RowColumns columns_of(const Ui& ui, const std::vector<TextPart>& parts) {
  ImFont* font = ui.fonts.caption;
  RowColumns columns;
  for (const TextPart& part : parts) {
    if (part.kind != TextPart::Kind::Row) continue;
    columns.label = std::max(columns.label, text_size(font, part.text).x);
    columns.value = std::max(columns.value, text_size(font, part.value).x);
  }
  const float room = ui.px(kMostWidth - kColumnGap);
  columns.label = std::min(columns.label, std::max(room / 2, room - columns.value));
  columns.value = std::min(columns.value, room - columns.label);
  return columns;
}

// Returns the height of the row.
float add_row_at(const Ui& ui, TooltipLayout& layout, const RowColumns& columns,
                 const TextPart& part, ImVec2 pos) {
  ImFont* font = ui.fonts.caption;
  const float label = layout.add(font, ui.theme->muted, pos, columns.label, part.text).y;
  // Numbers end below each other; a value of several lines starts where the column does.
  const float left = pos.x + columns.label + ui.px(kColumnGap);
  const float free = std::max(0.0F, columns.value - text_size(font, part.value).x);
  const ImVec2 at(left + free, pos.y);
  return std::max(label, layout.add(font, ui.theme->text, at, columns.value, part.value).y);
}

TooltipLayout layout_of(const Ui& ui, const Tooltip& tooltip) {
  const std::vector<TextPart> parts = parts_of(tooltip.text);
  const RowColumns columns = columns_of(ui, parts);
  TooltipLayout layout;
  const ImU32 text = ui.theme->text;
  ImVec2 pos(tooltip.mark, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TextPart& part = parts[i];
    const bool same = i > 0 && parts[i - 1].kind == part.kind;
    if (i > 0) {
      const bool rows = same && part.kind == TextPart::Kind::Row;
      pos.y += ui.px(part.starts_paragraph ? kParagraphGap : rows ? kRowGap : kPartGap);
    }
    if (part.kind == TextPart::Kind::Row) {
      layout.rows.push_back(pos.y + ui.fonts.caption->FontSize / 2);
      pos.y += add_row_at(ui, layout, columns, part, pos);
    } else {
      ImFont* font = part.kind == TextPart::Kind::Title ? ui.fonts.strong : ui.fonts.caption;
      pos.y += layout.add(font, text, pos, ui.px(kMostWidth), part.text).y;
    }
  }
  return layout;
}

ImVec2 padded(const Ui& ui, ImVec2 size) {
  return {size.x + ui.px(2 * kPadX), size.y + ui.px(2 * kPadY)};
}

void draw_layout(const Tooltip& tooltip, const TooltipLayout& layout) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::Dummy(layout.size);
  for (const TextBlock& block : layout.blocks) {
    const ImVec2 at(std::round(origin.x + block.pos.x), std::round(origin.y + block.pos.y));
    list->AddText(block.font, block.font->FontSize, at, styled(block.color), block.lines.data(),
                  block.lines.data() + block.lines.size());
  }
  for (std::size_t i = 0; tooltip.draw_row_mark && i < layout.rows.size(); ++i) {
    tooltip.draw_row_mark(i, {origin.x, origin.y + layout.rows[i]});
  }
  if (!tooltip.draw_mark || layout.blocks.empty()) return;
  tooltip.draw_mark({origin.x, origin.y + layout.blocks.front().font->FontSize / 2});
}

}  // namespace

ImVec2 tooltip_size(const Ui& ui, const Tooltip& tooltip) {
  return padded(ui, layout_of(ui, tooltip).size);
}

void show_tooltip(Ui& ui, const Tooltip& tooltip, std::optional<ImVec2> pos) {
  const TooltipLayout layout = layout_of(ui, tooltip);
  if (pos) ImGui::SetNextWindowPos(*pos);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kPadX), ui.px(kPadY)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(kControlRadius));
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 1.0F);
  ImGui::BeginTooltip();
  draw_layout(tooltip, layout);
  // ImGui hides a window in its first frame, in which it finds its size.
  if (ImGui::IsWindowAppearing()) ui.wants_layout = true;
  const ImVec2 min = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  ui.widgets.add({.path = std::string(tooltip.path),
                  .kind = "tooltip",
                  .label = std::string(tooltip.label),
                  .value = std::string(tooltip.text),
                  .min = min,
                  .max = {min.x + size.x, min.y + size.y}});
  ImGui::EndTooltip();
  ImGui::PopStyleVar(3);
}

// --- when and where -------------------------------------------------------------------------

namespace {

constexpr double kDelay_s = 0.5;
constexpr double kNever = 1e300;

ImGuiID last_item_key() {
  const ImGuiLastItemData& item = GImGui->LastItemData;
  if (item.ID != 0) return item.ID;
  return ImHashData(&item.Rect, sizeof item.Rect, ImGui::GetCurrentWindowRead()->ID);
}

bool has_keyboard_focus() {
  const ImGuiContext& g = *GImGui;
  return g.LastItemData.ID != 0 && g.NavId == g.LastItemData.ID && !g.NavDisableHighlight &&
         g.NavDisableMouseHover;
}

}  // namespace

void watch_pointer(Ui& ui, bool changed) {
  constexpr float kStill = 2;  // units
  const ImVec2 at = ImGui::GetIO().MousePos;
  std::optional<ImVec2>& rest = ui.memory.rest;
  if (changed || ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    rest = at;
  } else if (rest && std::max(std::abs(at.x - rest->x), std::abs(at.y - rest->y)) > ui.px(kStill)) {
    rest.reset();
  }
}

bool pointer_rests(const Ui& ui) {
  return ui.memory.rest.has_value();
}

namespace {

// Returns true once `key` has been hovered for the delay.
bool tooltip_delay_elapsed(Ui& ui, ImGuiID key) {
  WidgetMemory& memory = ui.memory;
  const int frame = ImGui::GetFrameCount();
  if (memory.hovered_id != key || memory.hovered_frame < frame - 1) {
    memory.hovered_id = key;
    memory.hovered_since_s = ImGui::GetTime();
  }
  memory.hovered_frame = frame;
  // Pressing a control suppresses its tooltip until the pointer returns. Disabled controls are
  // exempt, because their tooltip states why they are disabled.
  const bool disabled = (GImGui->LastItemData.InFlags & ImGuiItemFlags_Disabled) != 0;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !disabled) memory.hovered_since_s = kNever;
  const bool by_pointer = !GImGui->NavDisableMouseHover;
  if (memory.hovered_since_s == kNever || (by_pointer && !disabled && pointer_rests(ui))) {
    return false;
  }
  if (ImGui::GetTime() - memory.hovered_since_s >= kDelay_s) return true;
  ui.wants_animation = true;
  return false;
}

// Shows the tooltip on `side` of the control, or if there is no space, below or above it, so that
// it never covers what it explains. Taller things, such as cards, are covered only where the
// pointer is.
void show_tooltip_beside(Ui& ui, ImVec2 min, ImVec2 max, std::string_view text,
                         HintSide side = HintSide::Below) {
  constexpr float kTall = 80, kAway = 6, kEdge = 4;  // units
  const Tooltip tooltip{.text = text};
  if (max.y - min.y > ui.px(kTall)) return show_tooltip(ui, tooltip);
  const ImVec2 size = tooltip_size(ui, tooltip);
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float edge = ui.px(kEdge);
  const float left = min.x - ui.px(kAway) - size.x;
  if (side == HintSide::Left && left >= edge) {
    return show_tooltip(ui, tooltip, ImVec2(left, (min.y + max.y - size.y) / 2));
  }
  const float at = GImGui->NavDisableMouseHover ? min.x : ImGui::GetIO().MousePos.x;
  const float x = std::clamp(at, edge, std::max(edge, screen.x - edge - size.x));
  const float below = max.y + ui.px(kAway);
  const bool fits = side != HintSide::Above && below + size.y <= screen.y - edge;
  show_tooltip(ui, tooltip,
               ImVec2(x, fits ? below : std::max(edge, min.y - ui.px(kAway) - size.y)));
}

}  // namespace

void hint(Ui& ui, std::string_view text, HintSide side) {
  if (!ui.memory.lock.empty()) text = ui.memory.lock;
  if (text.empty() || ImGui::GetCurrentWindowRead()->SkipItems) return;
  const bool here =
      ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || has_keyboard_focus();
  if (!here || !tooltip_delay_elapsed(ui, last_item_key())) return;
  show_tooltip_beside(ui, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), text, side);
}

void hint_at(Ui& ui, ImVec2 min, ImVec2 max, std::string_view text) {
  if (text.empty()) return;
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(min, max)) return;
  const ImRect box(min, max);
  const ImGuiID key = ImHashData(&box, sizeof box, ImGui::GetCurrentWindowRead()->ID);
  if (tooltip_delay_elapsed(ui, key)) show_tooltip_beside(ui, min, max, text);
}

}  // namespace lab::ui
