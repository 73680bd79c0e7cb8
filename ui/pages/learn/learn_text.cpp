// The left column of a lesson: sentences and question.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

// What a lesson's result says of a choice.
enum class Judged { Open, Right, Wrong };

Judged judged(const Panel& p, const LessonInfo& lesson, std::size_t choice) {
  const LessonRun* run = p.model.lesson_run(lesson.name);
  if (run == nullptr || !run->done || !run->done->judges()) return Judged::Open;
  // The answer is that for the setting it was measured with.
  const auto& vary = p.view.forms.learn.vary;
  if (const auto now = vary.find(lesson.name); now != vary.end() && run->done->vary) {
    if (now->second != *run->done->vary) return Judged::Open;
  }
  const auto is = [&](const LessonAnswer& answer) {
    return !answer.values.empty() && answer.values.front() == static_cast<double>(choice);
  };
  if (is(*run->done->answer)) return Judged::Right;
  return run->guess && is(run->guess->answer) ? Judged::Wrong : Judged::Open;
}

const char* judged_text(Judged judged) {
  return judged == Judged::Right ? "right" : judged == Judged::Wrong ? "wrong" : "";
}

// A choice with a mark that shows whether it is chosen, and one of the result; returns true when
// pressed.
bool choice_row(const Panel& p, const std::string& path, const std::string& text, bool chosen,
                Judged result) {
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
    draw_control_text(list, ui.fonts.body,
                      {item.min.x + ui.px(30), middle - ui.fonts.body->FontSize / 2},
                      item.max.x - item.min.x - ui.px(60), ui.theme->text, text);
    if (result != Judged::Open) {
      const bool right = result == Judged::Right;
      draw_icon(list, right ? kIconCheck : kIconClose, {item.max.x - ui.px(26), middle - ui.px(8)},
                ui.px(16), styled(right ? ui.theme->good : ui.theme->bad));
    }
  }
  record(ui, item, path, "choice", text,
         fmt::format("{}{}{}", chosen ? "selected" : "",
                     chosen && result != Judged::Open ? ", " : "", judged_text(result)));
  return item.pressed;
}

bool enter_pressed() {
  return !ImGui::GetIO().KeyCtrl && (key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER));
}

// Returns true if Enter was pressed on the choice that was already made.
bool choices(const Panel& p, const LessonInfo& lesson, std::string& guess) {
  bool entered = false;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, p.ui.px(4)});
  for (std::size_t i = 0; i < lesson.question.choices.size(); ++i) {
    const std::string& choice = lesson.question.choices[i];
    if (!choice_row(p, fmt::format("learn/choice/{}", i + 1), tr(choice), guess == choice,
                    judged(p, lesson, i))) {
      continue;
    }
    entered = guess == choice && enter_pressed();
    if (!entered) guess = guess == choice ? "" : choice;
  }
  ImGui::PopStyleVar();
  ImGui::Dummy({1, 0});  // the button below is not one of the choices
  return entered;
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

// The text of a drawn curve. A long unit, which the field's label names, is left out.
std::string typed_curve(const LessonQuestion& question, const std::vector<double>& values) {
  const std::string& unit = question.unit;
  std::string all;
  for (const double value : values) {
    std::string text = quantity_text(value, unit);
    if (unit.size() > 2 && text.ends_with(unit)) text.resize(text.size() - unit.size());
    std::erase(text, ',');  // commas separate the numbers
    all += (all.empty() ? "" : ", ") + text;
  }
  return all;
}

void curve(const Panel& p, const LessonInfo& lesson, std::string& guess, float height) {
  std::vector<double> values = curve_values(lesson.question, guess);
  if (!guess_curve(p, "learn/curve", lesson.question, values, height)) return;
  // A column that is not drawn yet follows its nearest drawn neighbour.
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t away = 1; values[i] == 0 && away < values.size(); ++away) {
      if (i >= away && values[i - away] > 0) values[i] = values[i - away];
      if (values[i] == 0 && i + away < values.size()) values[i] = values[i + away];
    }
  }
  guess = typed_curve(lesson.question, values);
}

// A guess without a prefix is in this unit.
std::string guess_label(const LessonQuestion& question) {
  const std::string& unit = question.unit;
  if (unit.empty()) return tr("Your guess, a number");
  if (unit == "x") return tr("Your guess, a factor");
  if (unit == "B") return tr("Your guess, in bytes");
  if (unit == "s") return tr("Your guess, in seconds");
  if (unit == "%") return tr("Your guess, in percent");
  return trf("Your guess, in {}", unit);
}

// How a number may be written; the values are far from most answers.
std::string written(const std::string& unit) {
  if (unit == "x") return "1.1";
  if (unit == "B") return "20 KiB";
  if (unit == "s") return "20 ms";
  if (unit == "%") return "5 %";
  if (unit == "FLOP/s") return "200 M";
  return "1,200";
}

std::string written_guess(const LessonQuestion& asked) {
  std::string all = written(asked.unit);
  for (std::size_t i = 1; i < asked.at.size(); ++i) all += ", " + written(asked.unit);
  return all;
}

std::string guess_example(const LessonQuestion& asked) {
  const std::string all = written_guess(asked);
  return asked.at.empty() ? trf("for example {}", all) : trf("draw above, or type {}", all);
}

}  // namespace

std::string guess_problem(const LessonQuestion& asked, const std::string& guess) {
  if (guess.empty() || problem([&] { parse_answer(asked, guess); }).empty()) return {};
  const std::string example = written_guess(asked);
  if (asked.unit == "x") {
    return asked.at.empty() ? trf("Write a factor, for example {}.", example)
                            : trf("Write {} factors, for example {}.", asked.at.size(), example);
  }
  return asked.at.empty() ? trf("Write a number, for example {}.", example)
                          : trf("Write {} numbers separated by commas, for example {}.",
                                asked.at.size(), example);
}

namespace {

std::optional<double> setting_of(const Panel& p, const LessonInfo& lesson) {
  const auto& vary = p.view.forms.learn.vary;
  const auto found = vary.find(lesson.name);
  return found == vary.end() ? std::nullopt : std::optional(found->second);
}

// Returns true if Enter was pressed on the guess. `drawing`: height of a drawn one in units.
bool question(const Panel& p, const LessonInfo& lesson, float drawing) {
  std::string& guess = p.view.forms.learn.guesses[lesson.name];
  const LessonQuestion& asked = lesson.question;
  const std::string text = question_text(lesson, setting_of(p, lesson));
  heading(p.ui, text);
  record_item(p.ui, "learn/question", "text", text);
  if (!asked.choices.empty()) return choices(p, lesson, guess);
  if (!asked.at.empty()) curve(p, lesson, guess, drawing);
  const std::string wrong = guess_problem(asked, guess);
  const char* const how =
      asked.at.empty() ? tr("With or without a unit; digits may be grouped, as in 4,194,304")
                       : tr("With or without a unit; one number per position, separated by commas");
  bool& typing = p.view.forms.learn.typing;
  const std::string shown = typing ? "" : wrong;
  // A tooltip would cover the error below.
  // The drawing above names a curve's unit, and needs the room.
  input_text(p.ui, "learn/guess", asked.at.empty() ? guess_label(asked) : std::string(), guess,
             wrong.empty() ? how : "", guess_example(asked), {.invalid = !shown.empty()});
  typing = ImGui::IsItemActive();
  const bool entered = ImGui::IsItemDeactivated() && enter_pressed();
  field_error(p.ui, "learn/guess_error", shown);
  return entered;
}

// Enter without a control that handles it itself.
bool enter_is_free(const Panel& p) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool modal = p.view.help_open || p.view.confirm_cancel || p.view.confirm_restart;
  return !modal && !io.WantTextInput && !io.NavVisible && enter_pressed();
}

// Offers to divide the cores of the CPU as the lesson needs it.
void split_button(const Panel& p, int devices) {
  note_box(p.ui, "learn/few",
           devices > 1
               ? trf("This lesson needs {} devices; this lab has {}. The CPU's cores can be "
                     "split into several devices.",
                     devices, p.model.devices().size())
               : std::string(tr("This lesson compares a small device with a larger one, but "
                                "every device here has a single core. The cores can be "
                                "joined into one device.")));
  form_actions(p, 180, [&] {
    if (button(p.ui, "learn/split",
               devices > 1 ? trf("Split the CPU into {}", devices)
                           : std::string(tr("Join the CPU's cores")),
               {.kind = ButtonKind::Primary,
                .hint = tr("Restarts the lab, which takes about a second, and continues here"),
                .width = -1})) {
      p.view.forms.learn.resume = true;
      p.view.confirm_restart = RestartLab{.cpu_devices = devices};
    }
  });
}

// Whether the result shown answers what the form asks.
bool is_answered(const Panel& p, const LessonInfo& lesson) {
  const LessonRun* run = p.model.lesson_run(lesson.name);
  if (run == nullptr || !run->done || !run->done->judges()) return false;
  const std::optional<double> setting = setting_of(p, lesson);
  if (setting && run->done->vary && *setting != *run->done->vary) return false;
  const std::string& guess = p.view.forms.learn.guesses[lesson.name];
  return guess.empty() || run->request.guess == guess;
}

void next_lesson_button(const Panel& p, const LessonInfo& next) {
  const std::string named = trf("Next: {}", tr(next.title));
  const bool fits = button_width(p.ui, named) <= width_left(p);
  if (button(p.ui, "learn/next_lesson", fits ? named : std::string(tr("Next")),
             {.kind = ButtonKind::Primary,
              .hint = fits ? std::string_view() : std::string_view(named),
              .width = -1})) {
    show_lesson(p, next);
  }
}

// `entered`: Enter was pressed on the guess, which measures like the button.
void measure_button(const Panel& p, const LessonInfo& lesson, bool entered) {
  const bool guessed = !p.view.forms.learn.guesses[lesson.name].empty();
  const std::string wrong = lesson_problem(p, lesson);
  entered = (entered || enter_is_free(p)) && guessed && wrong.empty() && !busy(p);
  const LessonRun* run = p.model.lesson_run(lesson.name);
  const char* const label = run != nullptr && run->done ? tr("Measure again")
                            : guessed                   ? tr("Measure")
                                                        : tr("Measure without a guess");
  const LessonInfo* next = is_answered(p, lesson) ? neighbour_of(p, lesson, 1) : nullptr;
  const bool second_best = next != nullptr || (!guessed && (run == nullptr || !run->done));
  form_actions(p, next != nullptr ? 330 : 220, [&] {
    if (stop_instead(p, Page::Learn)) return;
    std::optional<Row> row;
    if (next != nullptr) {
      row.emplace(p.ui, std::initializer_list<float>{1, -button_width(p.ui, label)});
      row->next();
      next_lesson_button(p, *next);
      row->next();
    }
    if (start_button(p, "learn/measure", label, wrong, true,
                     second_best ? ButtonKind::Normal : ButtonKind::Primary) ||
        entered) {
      start_lesson(p, lesson);
    }
  });
}

// Below the button, in room that is kept for its two lines: the question above must not move.
void kept_busy_note(const Panel& p) {
  if (p.folded() || !shows_timed_lesson(p)) return;
  const float top = ImGui::GetCursorPosY();
  busy_cores_note(p);
  const float left = top + 2 * p.ui.fonts.caption->FontSize - ImGui::GetCursorPosY();
  if (left > 0) ImGui::Dummy({1, left});
}

void words(const Panel& p, const LessonInfo& lesson) {
  for (const std::string& paragraph : lesson.text) body(p.ui, tr(paragraph));
}

// The lines of a lesson's paragraphs in a column `width` pixels wide.
class WordLines {
 public:
  WordLines(const Panel& p, const LessonInfo& lesson, float width)
      : line_(p.ui.fonts.body->FontSize), gap_(ImGui::GetStyle().ItemSpacing.y) {
    for (const std::string& paragraph : lesson.text) {
      const std::string lines = break_lines(p.ui.fonts.body, tr(paragraph), width);
      counts_.push_back(1 + static_cast<int>(std::count(lines.begin(), lines.end(), '\n')));
    }
  }

  // Pixels of the first `lines`, or of all of them.
  float height(int lines = std::numeric_limits<int>::max()) const {
    float height = 0;
    for (const int count : counts_) {
      const int shown = std::min(lines, count);
      if (shown <= 0) break;
      height += (height > 0 ? gap_ : 0) + line_ * static_cast<float>(shown);
      lines -= shown;
    }
    return std::ceil(height);
  }
  // The most that are not cut in a part `room` pixels high, but at least kLeastLines.
  int fitting(float room) const {
    int lines = kLeastLines;
    while (height(lines + 1) <= room && height(lines + 1) > height(lines)) ++lines;
    return lines;
  }

 private:
  static constexpr int kLeastLines = 6;

  const float line_, gap_;  // pixels
  std::vector<int> counts_;
};

// Fades out the end of a part that is cut off.
void fade_below(const Ui& ui, ImVec2 min, ImVec2 max) {
  const ImU32 card = styled(ui.theme->card), clear = with_alpha(card, 0);
  ImGui::GetWindowDrawList()->AddRectFilledMultiColor({min.x, max.y - 2 * ui.fonts.body->FontSize},
                                                      max, clear, clear, card, card);
}

// Over the end of the cut texts, whose last line it covers in part.
void read_on_button(const Panel& p, const LessonInfo& lesson, ImVec2 max) {
  Ui& ui = p.ui;
  const char* const text = tr("Read on");
  const ImVec2 size = text_size(ui.fonts.body, text);
  const ImVec2 min{max.x - size.x - ui.px(8), max.y - size.y - ui.px(2)};
  const Item item = control_at("learn/read_on", min, max);
  record(ui, item, "learn/read_on", "button", text);
  if (item.pressed) p.view.forms.learn.read_on = lesson.name;
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({min.x - ui.px(4), min.y}, max, styled(ui.theme->card), ui.px(4));
  draw_text(list, ui.fonts.body, {min.x + ui.px(4), min.y + ui.px(1)}, ui.theme->accent, text);
  focus_ring(ui, item, ui.px(4));
}

// The paragraphs, cut off below a whole line if they do not fit into `room` pixels, until the user
// asks for the rest.
void words_within(const Panel& p, const LessonInfo& lesson, float room) {
  const float width = ImGui::GetContentRegionAvail().x;
  const WordLines all(p, lesson, width);
  std::string& read_on = p.view.forms.learn.read_on;
  if (all.height() <= room) return words(p, lesson);
  if (read_on == lesson.name) {
    words(p, lesson);
    if (button(p.ui, "learn/read_less", tr("Show less"), {.kind = ButtonKind::Link})) read_on = "";
    return;
  }
  const int lines = all.fitting(room);
  const ImVec2 min = ImGui::GetCursorScreenPos(), max{min.x + width, min.y + all.height(lines)};
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0);
  ImGui::BeginChild(("learn/words/" + lesson.name).c_str(), {0, all.height(lines)}, false,
                    ImGuiWindowFlags_NavFlattened | ImGuiWindowFlags_NoScrollbar |
                        ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  words(p, lesson);
  fade_below(p.ui, min, max);
  ImGui::SetCursorScreenPos(min);  // the end of the texts does not count
  read_on_button(p, lesson, max);
  ImGui::EndChild();
  record_item(p.ui, "learn/words", "text", lesson.name, std::to_string(lines));
}

void question_and_button(const Panel& p, const LessonInfo& lesson, int split, float drawing) {
  const bool entered = question(p, lesson, drawing);
  if (split != 0) return;
  measure_button(p, lesson, entered);
  kept_busy_note(p);
}

constexpr float kDrawing = 138, kLeastDrawing = 100;  // units

// The height of the drawing of a guess which leaves `room` pixels for the words and itself.
float drawing_height(const Panel& p, const LessonInfo& lesson, float room) {
  if (lesson.question.at.empty()) return 0;
  const WordLines lines(p, lesson, ImGui::GetContentRegionAvail().x);
  return std::clamp((room - lines.height()) / p.ui.scale, kLeastDrawing, kDrawing);
}

}  // namespace

void draw_lesson_text(const Panel& p, const LessonInfo& lesson, float least) {
  const int split = wanted_split(p, lesson);
  if (split != 0) split_button(p, split);
  bool& listed = p.view.forms.learn.lists_below_texts;
  listed = false;
  if (p.folded()) {
    words(p, lesson);
    question_and_button(p, lesson, split, kDrawing);
    return;
  }
  const ImGuiWindow* card = ImGui::GetCurrentWindowRead();
  float& below = p.ui.memory.card_heights["learn/question/" + lesson.name];  // without the drawing
  const float end = card->Pos.y + p.ui.px(least) - card->WindowPadding.y;
  const float room = end - card->DC.CursorPos.y - p.ui.px(below) - ImGui::GetStyle().ItemSpacing.y;
  const float drawing = drawing_height(p, lesson, room);
  words_within(p, lesson, room - p.ui.px(drawing));
  const float top = card->DC.CursorPos.y;
  question_and_button(p, lesson, split, drawing);
  remember_height(p.ui, below, card->DC.CursorMaxPos.y - top - p.ui.px(drawing));
  listed = draw_list_within(p, lesson, end - card->DC.CursorPos.y);
}

}  // namespace lab::ui
