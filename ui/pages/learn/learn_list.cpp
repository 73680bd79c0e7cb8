// The list of lessons: which were done, with the figure that each gave.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kListRow = 26, kListMark = 24;  // units

// The answer that the lesson gave, and whether it was too unsteady to judge a guess.
struct LessonFigureText {
  std::string text;
  std::string shorter = {};  // where the line has no room for it; empty: there is none
  bool unsteady = false;
};

// "300 ns to 5.04 ms" of a curve, which has more numbers than a line has room for.
LessonFigureText short_answer(const LessonQuestion& question, const LessonAnswer& answer) {
  if (question.at.size() < 2 || answer.values.empty()) return {answer_text(question, answer)};
  const auto [least, most] = std::ranges::minmax(answer.values);
  const std::string from = quantity_text(least, question.unit);
  const std::string to = quantity_text(most, question.unit);
  return {trf("{} to {}", from, to), trf("up to {}", to)};
}
LessonFigureText figure_of(const Panel& p, const LessonInfo& lesson) {
  const LessonRun* run = p.model.lesson_run(lesson.name);
  if (run != nullptr && run->done && run->done->answer) {
    LessonFigureText figure = short_answer(lesson.question, *run->done->answer);
    figure.unsteady = !run->done->judges();
    return figure;
  }
  if (p.view.forms.learn.done.contains(lesson.name)) return {tr("measured")};
  return {};
}

void list_row(const Panel& p, const LessonInfo& lesson, bool here) {
  Ui& ui = p.ui;
  const std::string path = "learn/list/" + lesson.name;
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(kListRow)});
  const LessonFigureText figure = figure_of(p, lesson);
  const std::string whole = figure.unsteady ? trf("{}, rough", figure.text) : figure.text;
  record(ui, item, path, "row", lesson.title, whole);
  if (item.pressed) show_lesson(p, lesson);
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (here || item.hovered) {
    const ImU32 fill = here ? with_alpha(ui.theme->accent, 0.16F) : ui.theme->hover;
    list->AddRectFilled(item.min, item.max, styled(fill), ui.px(4));
  }
  focus_ring(ui, item, ui.px(4));
  const float middle = (item.min.y + item.max.y) / 2, side = ui.px(14);
  const ImVec2 mark(item.min.x + ui.px(6), middle - side / 2);
  if (figure.unsteady) {
    draw_warning(ui, {mark.x, middle});
  } else if (!figure.text.empty()) {
    draw_icon(list, kIconCheck, mark, side, styled(ui.theme->good));
  }
  const float left = item.min.x + ui.px(kListMark + 4), width = item.max.x - left - ui.px(8);
  ImFont *font = ui.fonts.body, *small = ui.fonts.caption;
  const std::string title = tr(lesson.title);
  const float titled = std::min(width, text_size(font, title).x);
  draw_text_fitted(list, font, {left, middle - font->FontSize / 2}, width, ui.theme->text, title);
  const float room = width - titled - ui.px(12);
  const auto fits = [&](const std::string& text) { return text_size(small, text).x <= room; };
  const bool is_whole = fits(figure.text);
  const std::string& text = is_whole ? figure.text : figure.shorter;
  if (figure.unsteady || !is_whole) hint(ui, whole);
  if (text.empty() || !fits(text)) return;  // rather than a part of a number
  const ImVec2 at(item.max.x - ui.px(8) - text_size(small, text).x, middle - small->FontSize / 2);
  draw_text(list, small, at, ui.theme->muted, text);
  record_rect(ui, path + "/figure", "text", text, {}, true, at,
              {item.max.x - ui.px(8), at.y + small->FontSize});
}

void track_rows(const Panel& p, LessonTrack track, const LessonInfo& shown) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, p.ui.px(1)});
  for (const LessonInfo& lesson : p.model.lessons()) {
    if (lesson.track == track) list_row(p, lesson, &lesson == &shown);
  }
  ImGui::PopStyleVar();
}

void track_list(const Panel& p, LessonTrack track, const LessonInfo& shown) {
  caption(p.ui, tr(label_of(track)));
  track_rows(p, track, shown);
}

}  // namespace

bool draw_list_within(const Panel& p, const LessonInfo& shown, float room) {
  const auto count = std::ranges::count(p.model.lessons(), shown.track, &LessonInfo::track);
  const float rows = p.ui.px(kListRow + 1) * static_cast<float>(count);
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  const float needed = gap + p.ui.fonts.caption->FontSize + gap + rows;
  if (p.model.lessons().size() < 2 || room < needed) return false;
  ImGui::Dummy({1, room - needed});
  caption(p.ui, tr("Lessons"));
  record_item(p.ui, "learn/list", "text", tr("Lessons"));
  hint(p.ui, tr("The figures are those of this session's measurements."));
  track_rows(p, shown.track, shown);
  return true;
}

void draw_lesson_list(const Panel& p, const LessonInfo& shown, bool all_tracks) {
  if (p.model.lessons().size() < 2) return;
  const Card card(p, "learn/list", tr("Lessons"),
                  {.hint = tr("The figures are those of this session's measurements.")});
  if (!card) return;
  if (!all_tracks) return track_list(p, shown.track, shown);
  Pair pair(p);
  for (const LessonTrack track : enum_values<LessonTrack>()) {
    pair.next();
    track_list(p, track, shown);
  }
}

}  // namespace lab::ui
