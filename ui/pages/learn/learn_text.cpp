// The left column of a lesson: sentences, code, question.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

void code_line(const Panel& p, const std::string& path, const LessonStep& step,
               const std::string& code, bool lit) {
  Ui& ui = p.ui;
  const float width = ImGui::GetContentRegionAvail().x;
  const float pad = ui.px(8);
  ImFont* font = ui.fonts.mono;
  const float wrap = width - 2 * pad;
  const ImVec2 size = font->CalcTextSizeA(ui.fonts.caption->FontSize, FLT_MAX, wrap, code.c_str());
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const ImVec2 max(min.x + width, min.y + size.y + ui.px(8));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(
      min, max, styled(lit ? with_alpha(ui.theme->accent, 0.25F) : ui.theme->raised), ui.px(4));
  if (lit) list->AddRectFilled(min, {min.x + ui.px(3), max.y}, styled(ui.theme->accent), ui.px(1));
  list->AddText(font, ui.fonts.caption->FontSize, {min.x + pad, min.y + ui.px(4)},
                styled(ui.theme->text), code.c_str(), nullptr, wrap);
  ImGui::Dummy({width, max.y - min.y});
  record_item(ui, path, "code", code, lit ? "running" : "");
  hint(ui, step.title);
}

void code_card(const Panel& p, const LessonInfo& lesson) {
  LearnForm& form = p.view.forms.learn;
  const std::vector<std::string> languages(kLessonLanguages.begin(), kLessonLanguages.end());
  combo(p.ui, "learn/language", "Code in", languages, form.language);
  const LessonRun* run = p.model.lesson_run(lesson.name);
  const bool running = run && p.model.job() && p.model.job()->id == run->job;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, p.ui.px(3)});
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const std::string& code = lesson.steps[i].code[static_cast<std::size_t>(form.language)];
    if (code.empty()) continue;
    code_line(p, fmt::format("learn/code/{}", i), lesson.steps[i], code, running && run->step == i);
  }
  ImGui::PopStyleVar();
}

// A choice with a mark that shows whether it is chosen; returns true when pressed.
bool choice_row(const Panel& p, const std::string& path, const std::string& text, bool chosen) {
  Ui& ui = p.ui;
  const float height = ui.px(30);
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, height});
  if (item.visible) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 fill = chosen         ? with_alpha(ui.theme->accent, 0.16F)
                       : item.hovered ? ui.theme->hover
                                      : ui.theme->raised;
    list->AddRectFilled(item.min, item.max, styled(fill), ui.px(6));
    focus_ring(ui, item, ui.px(6));
    const float middle = (item.min.y + item.max.y) / 2;
    const ImVec2 mark(item.min.x + ui.px(16), middle);
    const ImU32 color = styled(chosen ? ui.theme->accent : ui.theme->muted);
    list->AddCircle(mark, ui.px(6), color, 0, ui.px(1.5F));
    if (chosen) list->AddCircleFilled(mark, ui.px(3), color);
    draw_text_fitted(list, ui.fonts.body,
                     {item.min.x + ui.px(30), middle - ui.fonts.body->FontSize / 2},
                     item.max.x - item.min.x - ui.px(36), ui.theme->text, text);
  }
  record(ui, item, path, "choice", text, chosen ? "selected" : "");
  return item.pressed;
}

void choices(const Panel& p, const LessonInfo& lesson, std::string& guess) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, p.ui.px(4)});
  for (std::size_t i = 0; i < lesson.question.choices.size(); ++i) {
    const std::string& choice = lesson.question.choices[i];
    if (choice_row(p, fmt::format("learn/choice/{}", i + 1), choice, guess == choice)) {
      guess = guess == choice ? "" : choice;
    }
  }
  ImGui::PopStyleVar();
}

// The numbers of a curve that is complete enough to read; zeros where none is drawn.
std::vector<double> curve_values(const LessonQuestion& question, const std::string& guess) {
  std::vector<double> values(question.at.size(), 0);
  if (guess.empty()) return values;
  try {
    values = parse_answer(question, guess).values;
  } catch (const Error&) {
    // Typed text that is not a curve yet.
  }
  return values;
}

void curve(const Panel& p, const LessonInfo& lesson, std::string& guess) {
  std::vector<double> values = curve_values(lesson.question, guess);
  if (!guess_curve(p, "learn/curve", lesson.question, values)) return;
  // A column that is not drawn yet follows its nearest drawn neighbour.
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t away = 1; values[i] == 0 && away < values.size(); ++away) {
      if (i >= away && values[i - away] > 0) values[i] = values[i - away];
      if (values[i] == 0 && i + away < values.size()) values[i] = values[i + away];
    }
  }
  guess = answer_text(lesson.question, {values});
}

void question(const Panel& p, const LessonInfo& lesson) {
  std::string& guess = p.view.forms.learn.guesses[lesson.name];
  const LessonQuestion& asked = lesson.question;
  ImGui::PushFont(p.ui.fonts.strong);
  body(p.ui, asked.text);
  ImGui::PopFont();
  if (!asked.choices.empty()) return choices(p, lesson, guess);
  if (!asked.at.empty()) curve(p, lesson, guess);
  input_text(p.ui, "learn/guess", asked.unit.empty() ? "Your guess" : "Your guess, " + asked.unit,
             guess, "With or without a unit; several numbers separated by commas",
             asked.at.empty() ? "none" : "draw above, or type");
  const std::string wrong = guess.empty() ? "" : problem([&] { parse_answer(asked, guess); });
  if (!wrong.empty() && !ImGui::IsItemActive()) error_box(p.ui, "learn/guess_error", wrong);
}

void measure_button(const Panel& p, const LessonInfo& lesson) {
  const bool too_few = std::ssize(p.model.devices()) < lesson.devices;
  if (too_few) {
    note_box(p.ui, "learn/few",
             fmt::format("This lesson needs {} devices; this lab has {}. The CPU's cores can be "
                         "split into several devices.",
                         lesson.devices, p.model.devices().size()));
    form_actions(p, 180, [&] {
      if (button(p.ui, "learn/split", fmt::format("Split the CPU into {}", lesson.devices),
                 {.kind = ButtonKind::Primary,
                  .hint = "Restarts the lab, which takes about a second, and continues here",
                  .width = -1})) {
        p.view.forms.devices.cpu_devices = lesson.devices;
        p.view.forms.learn.resume = true;
        p.view.confirm_restart = RestartLab{.cpu_devices = lesson.devices};
      }
    });
    return;
  }
  const bool guessed = !p.view.forms.learn.guesses[lesson.name].empty();
  form_actions(p, 220, [&] {
    if (start_button(p, "learn/measure", guessed ? "Measure" : "Measure without a guess",
                     lesson_problem(p, lesson), true)) {
      start_lesson(p, lesson);
    }
  });
}

}  // namespace

void draw_lesson_text(const Panel& p, const LessonInfo& lesson) {
  for (const std::string& sentence : lesson.text) body(p.ui, sentence);
  ImGui::Dummy({1, p.ui.px(2)});
  question(p, lesson);
  measure_button(p, lesson);
  code_card(p, lesson);
}

bool guess_curve(const Panel& p, std::string_view path, const LessonQuestion& question,
                 std::vector<double>& values) {
  Ui& ui = p.ui;
  const float label = ui.px(18);
  const Item item = control(path, {ImGui::GetContentRegionAvail().x, ui.px(120)});
  const auto columns = static_cast<float>(question.at.size());
  const ImVec2 min = item.min, max{item.max.x, item.max.y - label};
  const double low = std::log(question.low), high = std::log(question.high);
  const auto x_of = [&](std::size_t i) {
    return min.x + (max.x - min.x) * (static_cast<float>(i) + 0.5F) / columns;
  };
  const auto y_of = [&](double value) {
    const double share = (std::log(value) - low) / (high - low);
    return max.y - (max.y - min.y) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  };
  bool changed = false;
  if (item.held) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float at = (mouse.x - min.x) / (max.x - min.x) * columns;
    const auto i = static_cast<std::size_t>(std::clamp(at, 0.0F, columns - 1));
    const double share = std::clamp((max.y - mouse.y) / (max.y - min.y), 0.0F, 1.0F);
    const double value = std::exp(low + share * (high - low));
    changed = values[i] != value;
    values[i] = value;
  }
  if (item.visible) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(min, max, styled(ui.theme->raised), ui.px(6));
    focus_ring(ui, item, ui.px(6));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string text = quantity_text(question.at[i], question.at_unit);
      const float width = text_size(ui.fonts.caption, text).x;
      draw_text(list, ui.fonts.caption, {x_of(i) - width / 2, max.y + ui.px(3)}, ui.theme->muted,
                text);
      list->AddLine({x_of(i), min.y}, {x_of(i), max.y}, styled(ui.theme->plot_grid));
      if (values[i] <= 0) continue;
      const ImVec2 point(x_of(i), y_of(values[i]));
      if (i > 0 && values[i - 1] > 0) {
        list->AddLine({x_of(i - 1), y_of(values[i - 1])}, point, styled(ui.theme->accent),
                      ui.px(2));
      }
      list->AddCircleFilled(point, ui.px(4), styled(ui.theme->accent));
    }
    if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) {
      draw_text_centred(list, ui.fonts.caption,
                        {(min.x + max.x) / 2, (min.y + max.y) / 2 - ui.px(8)}, max.x - min.x,
                        ui.theme->muted, "Draw your guess here");
    }
    draw_text(list, ui.fonts.caption, {min.x + ui.px(6), min.y + ui.px(2)}, ui.theme->muted,
              quantity_text(question.high, question.unit));
    draw_text(list, ui.fonts.caption, {min.x + ui.px(6), max.y - ui.px(17)}, ui.theme->muted,
              quantity_text(question.low, question.unit));
  }
  record(ui, item, path, "curve", question.text, answer_text(question, {values}));
  return changed;
}

}  // namespace lab::ui
