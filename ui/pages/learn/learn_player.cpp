// A sequence of stages with real numbers, one key press per stage: Space, arrows, or the bar.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kRowHeight = 26;  // units
constexpr const char* kTravel = "learn/player/travel";

using Frames = std::vector<const LessonFrame*>;  // of one sequence

std::vector<std::string> sequences_of(const LessonRun& run) {
  std::vector<std::string> names;
  for (const LessonFrame& frame : run.frames) {
    if (std::find(names.begin(), names.end(), frame.sequence) == names.end()) {
      names.push_back(frame.sequence);
    }
  }
  return names;
}

// The name kept under `chosen`, or the first if it is not among `names`.
std::string& choice_among(const std::vector<std::string>& names, std::string& chosen) {
  if (std::find(names.begin(), names.end(), chosen) == names.end()) chosen = names.front();
  return chosen;
}

void choose_name(const Panel& p, const char* path, const std::string& label,
                 const std::vector<std::string>& names, std::string& chosen) {
  constexpr std::size_t kMostSegments = 6;
  choice_among(names, chosen);
  auto at = static_cast<int>(std::find(names.begin(), names.end(), chosen) - names.begin());
  const bool changed = names.size() <= kMostSegments ? segmented(p.ui, path, label, names, at)
                                                     : combo(p.ui, path, label, names, at);
  if (changed) chosen = names[static_cast<std::size_t>(at)];
}

// --- the bar --------------------------------------------------------------------------------

void draw_bar(const Ui& ui, const Item& item, int at, int count) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inset = ui.px(9), y = (item.min.y + item.max.y) / 2;
  const auto x = [&](int i) {
    const float share = count > 1 ? static_cast<float>(i) / static_cast<float>(count - 1) : 0;
    return item.min.x + inset + share * (item.max.x - item.min.x - 2 * inset);
  };
  const float half = ui.px(2);
  list->AddRectFilled({x(0), y - half}, {x(count - 1), y + half}, styled(ui.theme->active), half);
  list->AddRectFilled({x(0), y - half}, {x(at), y + half}, styled(ui.theme->accent), half);
  for (int i = 0; i < count; ++i) {
    list->AddCircleFilled({x(i), y}, ui.px(3.5F),
                          styled(i <= at ? ui.theme->accent : ui.theme->plot_axis));
  }
  list->AddCircleFilled({x(at), y}, ui.px(8), styled(ui.theme->accent));
  focus_ring(ui, item, ui.px(6));
}

// Returns by how many stages the keys and the bar move, or moves `at` to where the bar is held.
int scrub_bar(const Panel& p, int& at, int count) {
  Ui& ui = p.ui;
  const Item item =
      control("learn/scrub", {ImGui::GetContentRegionAvail().x, ui.px(kControlHeight)});
  int by = 0;
  if (item.held && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const float inset = ui.px(9);
    const float share = (ImGui::GetIO().MousePos.x - item.min.x - inset) /
                        std::max(1.0F, item.max.x - item.min.x - 2 * inset);
    const float nearest = std::round(share * static_cast<float>(count - 1));
    at = static_cast<int>(std::clamp(nearest, 0.0F, static_cast<float>(count - 1)));
  } else if (item.pressed && !ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
    by = 1;  // Space or Enter on the bar
  }
  if (item.visible) draw_bar(ui, item, at, count);
  hint(ui, tr("Space or the right arrow key: the next stage. Left arrow key: the stage before."));
  record(ui, item, "learn/scrub", "slider", tr("Stage"), fmt::format("{}/{}", at + 1, count));
  return by;
}

// A control with visible keyboard focus handles Space itself.
bool space_steps(const Panel& p) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool modal = p.view.help_open || p.view.confirm_cancel || p.view.confirm_restart;
  return !modal && !io.WantTextInput && !io.NavVisible && key_pressed(GLFW_KEY_SPACE);
}

// Scrolls so that the card under the cursor is in sight, if it is not.
void show_card(const Panel& p, const char* path) {
  const auto& heights = p.ui.memory.card_heights;
  const auto known = heights.find(path);
  if (known == heights.end()) return;
  const ImGuiWindow* page = ImGui::GetCurrentWindowRead();
  const float top = ImGui::GetCursorScreenPos().y, end = top + p.ui.px(known->second);
  const ImRect& seen = page->InnerRect;
  if (top >= seen.Min.y && end <= seen.Max.y) return;
  const bool fits = end - top <= seen.GetHeight();
  if (top < seen.Min.y || !fits) {
    ImGui::SetScrollFromPosY(top - page->Pos.y, 0);
  } else {
    ImGui::SetScrollFromPosY(end - page->Pos.y, 1);
  }
}

// The back button, the bar and the step button, and their keys.
void choose_stage(const Panel& p, int& at, int count) {
  int by = 0;
  bool keys = false;
  {
    Row row(p.ui, {-96, 1, -96});
    row.next();
    if (button(p.ui, "learn/back", tr("Back"), {.enabled = at > 0, .width = -1})) by = -1;
    keys = keys || last_item_has_keys();
    row.next();
    const int moved = scrub_bar(p, at, count);
    if (moved != 0) by = moved;
    keys = keys || last_item_has_keys();
    row.next();
    if (button(p.ui, "learn/step", tr("Step on"),
               {.kind = ButtonKind::Primary, .enabled = at + 1 < count, .width = -1})) {
      by = 1;
    }
    keys = keys || last_item_has_keys();
  }
  if (keys && key_pressed(GLFW_KEY_RIGHT, true)) by = 1;
  if (keys && key_pressed(GLFW_KEY_LEFT, true)) by = -1;
  if (keys && (key_pressed(GLFW_KEY_RIGHT, true) || key_pressed(GLFW_KEY_LEFT, true))) {
    claim_arrows();
  }
  if (space_steps(p)) by = 1;
  at = std::clamp(at + by, 0, count - 1);
}

// --- the numbers ----------------------------------------------------------------------------

std::string number_text(double value) {
  return value == std::round(value) && std::abs(value) < 1e6 ? fmt::format("{:.0f}", value)
                                                             : fmt::format("{:.5f}", value);
}

// Where rows and values are; the same for all stages of a sequence, so that nothing jumps.
struct GridArea {
  ImVec2 min{0, 0};
  float label = 0, cell = 0, row = 0;
  std::size_t rows = 0;

  ImVec2 at(std::size_t r, std::size_t column) const {
    return {min.x + label + cell * static_cast<float>(column), min.y + row * static_cast<float>(r)};
  }
};

bool shows(const LessonRow& row, const std::string& group) {
  return row.group.empty() || row.group == group;
}

GridArea lay_out(const Ui& ui, const Frames& frames, const std::string& group) {
  GridArea area;
  area.min = ImGui::GetCursorScreenPos();
  area.row = ui.px(kRowHeight);
  std::size_t columns = 1;
  for (const LessonFrame* frame : frames) {
    std::size_t rows = 0;
    for (const LessonRow& row : frame->rows) {
      if (!shows(row, group)) continue;
      ++rows;
      columns = std::max(columns, row.values.size());
      area.label = std::max(area.label, text_size(ui.fonts.caption, row.name).x + ui.px(14));
    }
    area.rows = std::max(area.rows, rows);
  }
  const float width = ImGui::GetContentRegionAvail().x;
  area.label = std::min(area.label, 0.5F * width);
  area.cell = std::min(ui.px(96), (width - area.label) / static_cast<float>(columns));
  return area;
}

void draw_cell(const Ui& ui, const GridArea& area, ImVec2 at, const std::string& text, ImU32 fill) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 max(at.x + area.cell - ui.px(2), at.y + area.row - ui.px(2));
  list->AddRectFilled(at, max, styled(fill), ui.px(3));
  ImFont* font = ui.fonts.caption;
  const float arrow = ui.px(11);  // at the right edge
  const float room = max.x - at.x - arrow - ui.px(2);
  const float wide = std::min(room, text_size(font, text).x);
  draw_text_fitted(list, font, {max.x - arrow - wide, (at.y + max.y - font->FontSize) / 2}, room,
                   ui.theme->text, text);
}

ImU32 move_color(const Ui& ui, const LessonMove& move) {
  return series_color(*ui.theme, move.adds ? 0 : 1);
}

// The line of each row of the frame; none for the rows of other groups.
using RowLines = std::vector<std::optional<std::size_t>>;

RowLines lines_of(const LessonFrame& frame, const std::string& group) {
  RowLines lines;
  std::size_t next = 0;
  for (const LessonRow& row : frame.rows) {
    lines.push_back(shows(row, group) ? std::optional(next++) : std::nullopt);
  }
  return lines;
}

// Values on their way: they leave the sender and reach the receiver at `way` 1.
void draw_moves(const Ui& ui, const GridArea& area, const LessonFrame& frame, const RowLines& lines,
                float way) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const LessonMove& move : frame.moves) {
    const std::size_t rows = frame.rows.size();
    if (move.from >= rows || move.to >= rows || !lines[move.from] || !lines[move.to]) continue;
    const std::vector<double>& values = frame.rows[move.from].values;
    const ImU32 color = move_color(ui, move);
    for (std::size_t i = move.first; i < std::min(move.first + move.count, values.size()); ++i) {
      const ImVec2 from = area.at(*lines[move.from], i), to = area.at(*lines[move.to], i);
      const float x = from.x + area.cell - ui.px(5);
      const float down = to.y > from.y ? 1.0F : -1.0F;
      const ImVec2 tip(x, to.y + area.row / 2 - down * ui.px(5));
      list->AddLine({x, from.y + area.row / 2}, tip, styled(with_alpha(color, 0.8F)), ui.px(1.5F));
      list->AddTriangleFilled({tip.x - ui.px(3), tip.y - down * ui.px(4)},
                              {tip.x + ui.px(3), tip.y - down * ui.px(4)}, tip, styled(color));
      if (way >= 1) continue;
      const ImVec2 here(from.x + (to.x - from.x) * way, from.y + (to.y - from.y) * way);
      draw_cell(ui, area, here, number_text(values[i]), mix(ui.theme->card, color, 0.5F));
    }
  }
}

// The colour of a value: lit where it was just received.
ImU32 cell_color(const Ui& ui, const LessonFrame& frame, std::size_t row, std::size_t column) {
  for (const LessonMove& move : frame.moves) {
    const bool inside = column >= move.first && column < move.first + move.count;
    if (move.to == row && inside) return mix(ui.theme->raised, move_color(ui, move), 0.35F);
  }
  return ui.theme->raised;
}

void draw_rows(const Panel& p, const GridArea& area, const LessonFrame& frame,
               const LessonFrame* before, const std::string& group) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float way = frame.moves.empty() ? 1 : ease(ui, kTravel, 1);
  const RowLines lines = lines_of(frame, group);
  for (std::size_t r = 0; r < frame.rows.size(); ++r) {
    const LessonRow& row = frame.rows[r];
    if (!lines[r]) continue;
    const std::size_t shown = *lines[r];
    const ImVec2 at = area.at(shown, 0);
    const float text_y = at.y + (area.row - ui.fonts.caption->FontSize) / 2 - 1;
    draw_text_fitted(list, ui.fonts.caption, {area.min.x, text_y}, area.label - ui.px(8),
                     ui.theme->muted, row.name);
    std::string all = row.text;
    if (!row.text.empty()) {
      draw_text(list, ui.fonts.mono, {at.x, text_y}, ui.theme->text, row.text);
    }
    const bool earlier = way < 1 && before != nullptr && r < before->rows.size();
    const std::vector<double>& values = earlier ? before->rows[r].values : row.values;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const std::string text = number_text(i < values.size() ? values[i] : row.values[i]);
      draw_cell(ui, area, area.at(shown, i), text, cell_color(ui, frame, r, i));
      all += (i == 0 ? "" : ", ") + number_text(row.values[i]);
    }
    record_rect(ui, fmt::format("learn/row/{}", shown), "text", row.name, all, true,
                {area.min.x, at.y},
                {area.at(shown, std::max<std::size_t>(1, row.values.size())).x, at.y + area.row});
  }
  draw_moves(ui, area, frame, lines, way);
}

// --- the card -------------------------------------------------------------------------------

// Only in stages with parameters; the others leave its room, so that nothing jumps.
void choose_parameter(const Panel& p, const LessonFrame& frame,
                      const std::vector<std::string>& groups, std::string& group) {
  const bool here = std::any_of(frame.rows.begin(), frame.rows.end(),
                                [](const LessonRow& row) { return !row.group.empty(); });
  if (here) {
    return choose_name(p, "learn/parameter", tr("Parameter, its first four values"), groups, group);
  }
  choice_among(groups, group);
  control_label(p.ui, " ");
  ImGui::Dummy({1, p.ui.px(kControlHeight)});
}

void draw_stage(const Panel& p, const LessonInfo& lesson, const Frames& frames, int at) {
  LearnForm& form = p.view.forms.learn;
  const LessonFrame& frame = *frames[static_cast<std::size_t>(at)];
  const std::string title = fmt::format("{}. {}", at + 1, frame.title);
  heading(p.ui, title);
  record_item(p.ui, "learn/stage_title", "text", title);
  std::vector<std::string> groups;
  for (const LessonFrame* one : frames) {
    for (const LessonRow& row : one->rows) {
      const bool known = std::find(groups.begin(), groups.end(), row.group) != groups.end();
      if (!row.group.empty() && !known) groups.push_back(row.group);
    }
  }
  std::string& group = form.group[lesson.name];
  if (!groups.empty()) choose_parameter(p, frame, groups, group);
  const GridArea area = lay_out(p.ui, frames, group);
  ImGui::Dummy({ImGui::GetContentRegionAvail().x, area.row * static_cast<float>(area.rows)});
  if (!ImGui::IsItemVisible()) return;
  draw_rows(p, area, frame, at > 0 ? frames[static_cast<std::size_t>(at) - 1] : nullptr, group);
}

}  // namespace

void draw_player(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  if (run.frames.empty()) return;
  if (space_steps(p)) show_card(p, "learn/player");
  Card card(p, "learn/player", tr("Step by step"));
  if (!card) return;
  LearnForm& form = p.view.forms.learn;
  const std::vector<std::string> names = sequences_of(run);
  std::string& sequence = choice_among(names, form.sequence[lesson.name]);
  if (names.size() > 1) choose_name(p, "learn/sequence", "", names, sequence);
  Frames frames;
  for (const LessonFrame& frame : run.frames) {
    if (frame.sequence == sequence) frames.push_back(&frame);
  }
  int& at = form.frame[lesson.name + "/" + sequence];
  at = std::clamp(at, 0, static_cast<int>(frames.size()) - 1);
  const int before = at;
  choose_stage(p, at, static_cast<int>(frames.size()));
  if (at == before + 1) {
    p.ui.eased[kTravel] = 0;  // the values of a new stage set out
  } else if (at != before) {
    p.ui.eased[kTravel] = 1;
  }
  draw_stage(p, lesson, frames, at);
}

}  // namespace lab::ui
