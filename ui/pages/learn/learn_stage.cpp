// The right column of a lesson: the sentence, guess and prediction, the gap, what was measured,
// notes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/pages/machine_portrait.h"
#include "ui/pages/step_parts.h"
#include "ui/plot/plot.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

constexpr std::array kLessonMarkers = {plot::Marker::Circle,   plot::Marker::Square,
                                       plot::Marker::Triangle, plot::Marker::Diamond,
                                       plot::Marker::Cross,    plot::Marker::Wedge};

std::string spread(const Timing& t) {
  if (t.n == 0) return {};
  const double range = t.median_s > 0 ? (t.p90_s - t.p10_s) / t.median_s : 0;
  return trf("{} runs, p90 - p10: {} of the median", t.n, percent(range));
}

// --- measured -------------------------------------------------------------------------------

void sample_table(const Panel& p, const LessonRun& run) {
  FactColumns facts(p, 600);
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const LessonSample& s = run.samples[i];
    if (drawn_as_strip(s)) continue;
    const std::string value = s.text.empty() ? quantity_text(s.value, s.unit) : s.text;
    const bool unsteady = is_unsteady(s.time);
    std::string details = spread(s.time);
    if (unsteady) details.append("\n").append(why_unsteady(s.time));
    facts.add(s.series, unsteady ? with_spread(value, s.time) : value, details,
              fmt::format("learn/sample/{}", i), unsteady);
  }
}

plot::Series curve_of(const Panel& p, const LessonSeries& from, int index, bool predicted,
                      const std::string& x_label) {
  plot::Series s;
  s.label = predicted ? trf("{}, predicted", from.name) : from.name;
  s.color = series_color(*p.ui.theme, index);
  s.line = predicted ? plot::Line::Dotted : plot::Line::Solid;
  if (!predicted)
    s.marker = kLessonMarkers[static_cast<std::size_t>(index) % kLessonMarkers.size()];
  s.x = from.x;
  s.y = from.y;
  s.describe = [&from, predicted, x_label](std::size_t i) {
    const std::string x = quantity_text(from.x[i], from.x_unit);
    const std::string y = quantity_text(from.y[i], from.unit);
    std::string text = from.name;
    add_row(text, x_label, x);
    add_row(text, predicted ? tr("predicted") : tr("measured"), y);
    if (predicted || from.times[i].n == 0) return text;
    text += "\n" + spread(from.times[i]);
    const std::string why = why_unsteady(from.times[i]);
    if (!why.empty()) text += "\n" + why;
    return text;
  };
  return s;
}

// A thin line for each of several runs.
void add_fan(const LessonSeries& from, const plot::Series& mean, std::vector<plot::Series>& to) {
  for (const std::vector<double>& line : from.lines) {
    plot::Series thin;
    thin.label = from.name;
    thin.color = mean.color;
    thin.width = 1;
    thin.alpha = from.lines.size() > 20 ? 0.12F : 0.4F;
    thin.in_legend = false;
    thin.x = from.x;
    thin.y = line;
    to.push_back(std::move(thin));
  }
}

bool same_units(const LessonSeries& a, const LessonSeries& b) {
  return a.unit == b.unit && a.x_unit == b.x_unit;
}

// All series with the units of `first`. A prediction has the colour of its measurement.
std::vector<plot::Series> curves_like(const Panel& p, const LessonRun& run,
                                      const LessonSeries& first, const std::string& x_label) {
  std::vector<plot::Series> series;
  std::vector<std::string> names;  // in the order of their colours
  for (const LessonSeries& measured : run.measured) {
    if (!same_units(measured, first)) continue;
    plot::Series mean = curve_of(p, measured, static_cast<int>(names.size()), false, x_label);
    add_fan(measured, mean, series);
    mean.unsteady = measured.unsteady;
    if (!measured.lines.empty() || measured.has_unsteady()) {
      mean.low = measured.low;
      mean.high = measured.high;
    }
    series.push_back(std::move(mean));
    names.push_back(measured.name);
  }
  bool named = false;
  const bool only_predicted = names.empty();  // said by the axis
  for (const LessonSeries& predicted : run.predicted) {
    if (predicted.x.size() < 2 || !same_units(predicted, first)) continue;
    const auto same = std::find(names.begin(), names.end(), predicted.name);
    const bool alone = same == names.end();
    series.push_back(curve_of(p, predicted, static_cast<int>(same - names.begin()), true, x_label));
    if (alone) {
      if (only_predicted) series.back().label = predicted.name;
      names.push_back(predicted.name);
      continue;
    }
    series.back().in_legend = !named;
    if (!named) series.back().label = tr("predicted");
    named = true;
  }
  return series;
}

struct LessonPlot {
  const char* path;
  std::string x_label, y_label;
  float height;
  plot::LinkedCursor* cursor;  // of plots over the same positions
  std::vector<plot::Mark> marks = {};
};

void draw_curves(const Panel& p, const LessonInfo& lesson, const LessonSeries& first,
                 const std::vector<plot::Series>& series, const LessonPlot& shown) {
  const bool logarithmic = lesson.figure == LessonFigure::Curves;
  const plot::Scale scale = logarithmic ? plot::Scale::Log2 : plot::Scale::Linear;
  const plot::Axes axes{.x = {.label = shown.x_label,
                              .scale = scale,
                              .unit = first.x_unit,
                              .binary = first.x_unit == "B"},
                        .y = {.label = shown.y_label,
                              .scale = logarithmic ? plot::Scale::Log10 : plot::Scale::Linear,
                              .unit = first.unit}};
  plot::draw(p.ui, shown.path, axes, series,
             {.height = shown.height,
              .cursor = shown.cursor,
              .marks = shown.marks,
              .empty_text = tr("No point yet")},
             p.out);
}

// The first series whose units differ from those of the first measured one; null if there is none.
const LessonSeries* other_units(const LessonRun& run) {
  for (const std::vector<LessonSeries>* all : {&run.measured, &run.predicted}) {
    for (const LessonSeries& series : *all) {
      if (!same_units(series, run.measured.front())) return &series;
    }
  }
  return nullptr;
}

// The sizes that the question asks for, which the axis may not label, and the positions that the
// sentence names.
std::vector<plot::Mark> marks_of(const LessonInfo& lesson, const LessonRun& run) {
  std::vector<plot::Mark> marks;
  const LessonQuestion& asked = lesson.question;
  if (asked.at_unit == "B" && run.measured.front().x_unit == "B") {
    for (std::size_t i = 0; i < asked.at.size(); ++i) {
      marks.push_back({asked.at[i], position_text(asked, i)});
    }
  }
  if (!run.done) return marks;
  for (const NamedQuantity& mark : run.done->marks) marks.push_back({mark.value, mark.name});
  return marks;
}

// Whether the first plot takes the page's unused height; a fan is below strips.
bool has_tall_plot(const LessonInfo& lesson, const LessonRun& run) {
  return lesson.figure != LessonFigure::Heat && !run.measured.empty() &&
         run.measured.front().lines.empty();
}

// The first plot is higher by `spare` units.
void curves(const Panel& p, const LessonInfo& lesson, const LessonRun& run, float spare) {
  if (run.measured.empty()) return;
  const LessonSeries& first = run.measured.front();
  std::vector<plot::Series> series = curves_like(p, run, first, tr(lesson.x_label));
  if (run.guess && !lesson.question.at.empty()) {
    plot::Series guess;
    guess.label = tr("your guess");
    guess.color = p.ui.theme->accent;
    guess.line = plot::Line::DashDot;
    guess.marker = plot::Marker::Diamond;
    guess.hollow = true;
    guess.x = lesson.question.at;
    guess.y = run.guess->answer.values;
    series.push_back(std::move(guess));
  }
  const LessonSeries* other = other_units(run);
  plot::LinkedCursor* cursor = other && other->x_unit == first.x_unit ? &p.view.cursor : nullptr;
  const float height = other ? 180.0F : 240.0F;
  grown_in_card(p.ui, p.ui.px(spare));
  draw_curves(p, lesson, first, series,
              {"learn/plot", tr(lesson.x_label), tr(lesson.y_label), height + spare, cursor,
               marks_of(lesson, run)});
  if (other == nullptr) return;
  const bool measured = std::any_of(run.measured.begin(), run.measured.end(),
                                    [&](const LessonSeries& m) { return same_units(m, *other); });
  const std::string y_label = tr(lesson.second_y_label);
  draw_curves(p, lesson, *other, curves_like(p, run, *other, tr(lesson.second_x_label)),
              {"learn/plot2", tr(lesson.second_x_label),
               measured ? y_label : trf("{}, predicted", y_label), 180, cursor});
}

// Adds `spare` units to the height of the first plot, and to the card's unless its row adds them.
void measured_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run, float spare,
                   bool in_row) {
  Card card(p, "learn/measured", tr("Measured"), {.extra = in_row ? 0 : spare});
  if (!card) return;
  draw_strips(p, "learn/strips", run);
  if (lesson.figure == LessonFigure::Heat) {
    draw_heats(p, "learn/heat", lesson, run.measured);
  } else {
    curves(p, lesson, run, spare);
  }
  if (std::ranges::any_of(run.measured, &LessonSeries::has_unsteady)) {
    unsteady_key(p, "learn/mark_key");
  }
  if (!run.spans.empty()) draw_lanes(p, "learn/lanes", run.spans);
  sample_table(p, run);
}

// --- predicted ------------------------------------------------------------------------------

void formula(const Panel& p, const LessonPrediction& prediction) {
  std::string constants;
  for (const NamedQuantity& c : prediction.constants) {
    constants += fmt::format("{}{} = {}", constants.empty() ? "" : ", ", c.name,
                             quantity_text(c.value, c.unit));
  }
  if (prediction.formula.empty()) return;
  muted(p.ui,
        fmt::format("= {}{}{}", prediction.formula, constants.empty() ? "" : "; ", constants));
}

void prediction_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  Card card(p, "learn/predicted", tr("Guess and prediction"));
  if (!card) return;
  body(p.ui, trf("Your guess: {}", run.guess ? run.guess->text : std::string(tr("none"))));
  for (const LessonPrediction& prediction : run.predictions) {
    body(p.ui, fmt::format("{}: {}", prediction.series,
                           quantity_text(prediction.value, prediction.unit)));
    formula(p, prediction);
  }
  if (run.curve) {
    body(p.ui, trf("{} and others, dotted in the plot", run.curve->series));
    formula(p, *run.curve);
  }
  if (run.done && run.predictions.empty() && !run.curve && lesson.question.choices.empty()) {
    muted(p.ui, tr("This lesson predicts nothing; it compares what it observes."));
  }
}

void gap_card(const Panel& p, const LessonRun& run) {
  Card card(p, "learn/gap", tr("Gap"),
            {.hint = tr("The difference between prediction and measurement, cut into its causes")});
  if (!card) return;
  if (run.gaps.empty()) {
    muted(p.ui, run.done ? tr("Nothing was measured that the prediction can be compared with.")
                         : tr("Shown once both are known."));
  }
  // The times of a lesson that concludes nothing explain nothing.
  const bool open = run.done && !run.done->why_open.empty();
  for (std::size_t i = 0; i < run.gaps.size(); ++i) {
    draw_gap(p, fmt::format("learn/gap/{}", i), run.gaps[i], open || run.gaps[i].unsteady);
  }
  const bool has_bar = !open && std::ranges::any_of(run.gaps, [](const LessonGap& gap) {
    return gap.note.empty() && has_causes(gap);
  });
  if (has_bar) caption(p.ui, tr("Line: prediction. Hollow: less than predicted."));
}

// --- concluded ------------------------------------------------------------------------------

double& varied(const Panel& p, const LessonInfo& lesson) {
  return p.view.forms.learn.vary.try_emplace(lesson.name, lesson.vary->value).first->second;
}

void vary_field(const Panel& p, const LessonInfo& lesson) {
  const LessonVary& vary = *lesson.vary;
  double& value = varied(p, lesson);
  double shown = value;
  const std::string unit = vary.unit.empty() ? "" : tr(vary.unit);
  if (input_number(p.ui, "learn/vary", tr(vary.label), shown,
                   {.min = vary.low,
                    .max = vary.high,
                    .step = vary.doubling ? value : std::max(1.0, std::floor(value / 4)),
                    .unit = unit,
                    .hint = tr("The lesson's one setting")})) {
    // The minus button of a doubling setting halves it.
    const double wanted = vary.doubling && shown < value ? std::max(vary.low, value / 2) : shown;
    value = nearest_settings(vary, wanted).back();
  }
}

// Opens the experiment's page with the lesson's settings filled in.
void try_freely(const Panel& p, const LessonInfo& lesson) {
  JobCommand command = *lesson.free;
  if (lesson.set_free != nullptr) lesson.set_free(command, varied(p, lesson));
  fill_form(p.view.forms, command);
  p.view.page = page_of(command);
  p.view.forms.learn.back = lesson.name;
}

// The verdict on a guess: the most visible line of the results.
void verdict_strip(const Panel& p, const std::string& text, ImFont* font, Icon icon, ImU32 color) {
  Ui& ui = p.ui;
  const float pad = ui.px(12), side = ui.px(20), gap = ui.px(10);
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 min = ImGui::GetCursorScreenPos();
  const float left = pad + side + gap;
  const std::string lines = break_lines(font, text, width - left - pad);
  const float height = text_size(font, lines).y + ui.px(16);
  const ImVec2 max(min.x + width, min.y + height);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(min, max, styled(with_alpha(color, 0.16F)), ui.px(6));
  list->AddRectFilled(min, {min.x + ui.px(4), max.y}, styled(color), ui.px(2));
  draw_icon(list, icon, {min.x + pad, min.y + (height - side) / 2}, side, styled(color));
  list->AddText(font, font->FontSize, {min.x + left, min.y + ui.px(8)}, styled(ui.theme->text),
                lines.c_str());
  ImGui::Dummy({width, height});
  record_item(ui, "learn/verdict", "text", text);
}

void choice_verdict(const Panel& p, const LessonQuestion& question, const LessonAnswer& guess,
                    const LessonAnswer& answer) {
  const Theme& theme = *p.ui.theme;
  const bool right = guess == answer;
  const std::string text = right ? trf("Right: {}", answer_text(question, answer))
                                 : trf("The answer is {}, not {}", answer_text(question, answer),
                                       answer_text(question, guess));
  verdict_strip(p, text, p.ui.fonts.title, right ? kIconCheck : kIconClose,
                right ? theme.good : theme.bad);
}

// One guessed number is shown with the answer; of several, those that are right are named.
std::string number_verdict_text(const LessonQuestion& question, const LessonAnswer& guess,
                                const LessonAnswer& answer) {
  const std::string said = verdict(question, guess, answer);
  if (!question.at.empty()) return trf("Your guess is {}", said);
  const std::string right = answer_text(question, answer), guessed = answer_text(question, guess);
  if (!is_right(question, guess, answer)) {
    return trf("The answer is {}; you guessed {}", right, guessed);
  }
  return right == guessed ? trf("Right: {}", right)
                          : trf("Right within a tenth: {}; you guessed {}", right, guessed);
}

void number_verdict(const Panel& p, const LessonQuestion& question, const LessonAnswer& guess,
                    const LessonAnswer& answer) {
  const Fonts& fonts = p.ui.fonts;
  const Theme& theme = *p.ui.theme;
  const bool right = is_right(question, guess, answer);
  verdict_strip(p, number_verdict_text(question, guess, answer),
                question.at.empty() ? fonts.title : fonts.strong, right ? kIconCheck : kIconInfo,
                right ? theme.good : theme.accent);
}

// A line of the table of a curve's numbers, with its name before them.
void curve_line(const Panel& p, const std::string& path, const std::string& name, float named,
                const std::vector<std::string>& texts, ImU32 color) {
  Ui& ui = p.ui;
  ImFont* const font = ui.fonts.body;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float column = std::min(ui.px(150), (width - named) / static_cast<float>(texts.size()));
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::Dummy({width, font->FontSize});
  draw_text_fitted(list, font, at, named, ui.theme->muted, name);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    draw_text_fitted(list, font, {at.x + named + column * static_cast<float>(i), at.y},
                     column - ui.px(8), color, texts[i]);
  }
  record_item(ui, path, "text", name, fmt::format("{}", fmt::join(texts, "; ")));
}

// The numbers of a curve, with those guessed, below their positions.
void curve_table(const Panel& p, const LessonQuestion& question, const LessonAnswer* guess,
                 const LessonAnswer& answer) {
  const auto texts = [&](const auto& text) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < question.at.size(); ++i) all.push_back(text(i));
    return all;
  };
  const auto numbers = [&](const LessonAnswer& of) {
    return texts([&](std::size_t i) {
      return i < of.values.size() ? quantity_text(of.values[i], question.unit) : std::string();
    });
  };
  ImFont* const font = p.ui.fonts.body;
  const std::string guessed = tr("Your guess"), right = tr("The answer");
  const float named = std::max(text_size(font, guessed).x, text_size(font, right).x) + p.ui.px(16);
  const Theme& theme = *p.ui.theme;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(8), p.ui.px(4)});
  curve_line(p, "learn/table/at", "", named,
             texts([&](std::size_t i) { return position_text(question, i); }), theme.muted);
  if (guess != nullptr) {
    curve_line(p, "learn/table/guess", guessed, named, numbers(*guess), theme.text);
  }
  curve_line(p, "learn/table/answer", right, named, numbers(answer), theme.text);
  ImGui::PopStyleVar();
  ImGui::Dummy({1, 0});
}

// The answer, unless the verdict says it.
void answer_facts(const Panel& p, const LessonQuestion& question, const LessonRun& run) {
  const LessonAnswer& answer = *run.done->answer;
  if (!question.at.empty()) {
    return curve_table(p, question, run.guess ? &run.guess->answer : nullptr, answer);
  }
  if (run.guess) return;
  FactColumns facts(p, 600);
  facts.add(tr("The answer"), answer_text(question, answer));
}

void unjudged_answer(const Panel& p, const LessonQuestion& question, const LessonAnswer& answer) {
  const std::string text = unjudged_text(question, answer);
  body(p.ui, text);
  record_item(p.ui, "learn/unjudged", "text", text);
}

// What makes the numbers less certain.
void warnings(const Panel& p, const LessonRun& run) {
  const std::vector<std::string>& all = run.done->warnings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    note_box(p.ui, fmt::format("learn/warning/{}", i), all[i]);
  }
  if (run.done->why_open.empty()) others_note(p, "learn/others", run.others_used);
}

// The statements that do not hold on this machine.
void broken_checks(const Panel& p, const std::vector<LessonCheck>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].passed) continue;
    error_box(p.ui, fmt::format("learn/broken/{}", i), trf("Does not hold: {}", all[i].what));
  }
}

// The statements that hold, as on every machine.
void passed_checks(const Panel& p, const std::vector<LessonCheck>& all) {
  std::string passed;
  for (const LessonCheck& check : all) {
    if (check.passed) passed += (passed.empty() ? "" : "; ") + check.what;
  }
  if (passed.empty()) return;
  const std::string text = trf("Also verified in this run: {}.", passed);
  footnote(p.ui, text);
  record_item(p.ui, "learn/checks", "text", text);
}

// The setting to vary, and the way to the experiment's page.
void go_on_row(const Panel& p, const LessonInfo& lesson) {
  if (!lesson.vary && !lesson.free) return;
  const auto align = [&] {
    if (lesson.vary) control_label(p.ui, " ");  // beside a field with a label
  };
  Row row(p.ui, {1, 1});
  if (lesson.vary) {
    row.next();
    vary_field(p, lesson);
  }
  row.next();
  align();
  if (lesson.free &&
      button(p.ui, "learn/free", tr("Try it freely"),
             {.hint = tr("Opens the experiment's page; the title leads back here"), .width = -1})) {
    try_freely(p, lesson);
  }
}

// How the numbers came about, and what was verified, behind a foldout.
void details(const Panel& p, const LessonDone& done) {
  const bool verified = std::ranges::any_of(done.checks, &LessonCheck::passed);
  if (done.explanation.empty() && !verified) return;
  bool& open = p.view.forms.learn.details_open;
  foldout(p.ui, "learn/details",
          done.explanation.empty() ? tr("What was verified") : tr("How to read the numbers"), open);
  if (!open) return;
  if (!done.explanation.empty()) {
    muted(p.ui, done.explanation);
    record_item(p.ui, "learn/explanation", "text", done.explanation);
  }
  passed_checks(p, done.checks);
}

// The sentence, in bold type where no verdict precedes it. One that may not judge a guess concludes
// nothing either: the reason comes first.
void sentence(const Panel& p, const LessonDone& done, bool first) {
  if (done.why_open.empty()) {
    first ? heading(p.ui, done.sentence) : body(p.ui, done.sentence);
  } else {
    note_box(p.ui, "learn/open", done.why_open);
    muted(p.ui, done.sentence);
  }
  record_item(p.ui, "learn/sentence_text", "text", done.sentence);
}

void done_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  const LessonDone& done = *run.done;
  Card card(p, "learn/sentence",
            done.why_open.empty() ? tr("In one sentence")
                                  : tr("Measured, too unsteady to conclude from"));
  if (!card) return;
  const bool chosen = run.guess && !lesson.question.choices.empty();
  const std::optional<LessonAnswer>& answer = done.answer;
  const bool judges = done.judges();
  if (judges && run.guess) {
    (chosen ? choice_verdict : number_verdict)(p, lesson.question, run.guess->answer, *answer);
  }
  sentence(p, done, !judges || !run.guess);
  if (judges && !chosen) answer_facts(p, lesson.question, run);
  if (answer && !judges) unjudged_answer(p, lesson.question, *answer);
  broken_checks(p, done.checks);
  go_on_row(p, lesson);
}

// Below the figures: why the answer is so, and what makes the numbers less certain.
void notes_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  const LessonDone& done = *run.done;
  const bool why =
      done.answer && (!done.judges() || (run.guess && run.guess->answer != *done.answer));
  const bool warns = !done.warnings.empty() || run.others_used > 0;
  if (!why && !warns && done.explanation.empty() && done.checks.empty()) return;
  const Card card(p, "learn/notes", tr("Notes"));
  if (!card) return;
  if (why) {
    muted(p.ui, tr(lesson.question.why));
    record_item(p.ui, "learn/why", "text", tr(lesson.question.why));
  }
  warnings(p, run);
  details(p, done);
}

void steps_card(const Panel& p, const LessonInfo& lesson, bool measured, float extra = 0) {
  const Card card(p, "learn/steps", tr("What the lesson measures"), {.extra = extra});
  if (!card) return;
  if (!measured) {
    body(p.ui, tr("These steps run when you measure. Your guess, the prediction and the "
                  "measurement then appear here."));
  }
  draw_lesson_code(p, lesson);
  draw_class_form(p, lesson);
}

// The machine's cores, caches, memory, GPUs and links: those of the run once it has them.
void machine_card(const Panel& p, const LessonRun* run) {
  const bool mapped = run != nullptr && run->map && !run->map->devices.empty();
  const char* const path = mapped ? "learn/map" : "learn/machine";
  const Card card(p, path, tr("This machine"), {.hint = tr(kPortraitHint)});
  if (!card) return;
  if (!mapped) return draw_this_machine(p, path);
  const LessonMap& map = *run->map;
  draw_portrait(p, path, {map.devices, map.absent, map.links, run->silicon});
}

// Beside the steps is the list of lessons or, in all states of a lesson about it, the machine.
void steps_and_more(const Panel& p, const LessonInfo& lesson, const LessonRun* run) {
  const bool measured = run != nullptr && !run->empty();
  constexpr float kBeside = 620;  // units
  if (!lesson.about_machine && p.view.forms.learn.lists_below_texts) {
    return steps_card(p, lesson, measured, measured ? 0 : spare_height(p));
  }
  const bool fills = !measured && width_left(p) >= kBeside;
  Pair pair(p, kBeside, fills ? spare_height(p) : 0);
  pair.next();
  steps_card(p, lesson, measured);
  pair.next();
  if (!lesson.about_machine) return draw_lesson_list(p, lesson, false);
  machine_card(p, run);
}

// What was measured and, if `beside`, the steps to its right.
void measured_cards(const Panel& p, const LessonInfo& lesson, const LessonRun& run, bool beside) {
  // Read once for the card and its plot: if they grew in different frames, each would resize the
  // other forever.
  const float spare = has_tall_plot(lesson, run) ? spare_height(p) : 0;
  if (!beside) return measured_card(p, lesson, run, spare, false);
  Row row(p.ui, {3, 2}, {.equal = true, .extra = spare});
  row.next();
  measured_card(p, lesson, run, spare, true);
  row.next();
  steps_card(p, lesson, true);
}

// Directly below the sentence: the sequence, which is the main figure of a lesson that has one, and
// what was expected.
void first_cards(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  draw_player(p, lesson, run);
  const bool many = run.gaps.size() > 1 || run.predictions.size() > 2;
  if (many) {
    prediction_card(p, lesson, run);
    return gap_card(p, run);
  }
  Pair pair(p);
  pair.next();
  prediction_card(p, lesson, run);
  pair.next();
  gap_card(p, run);
}

}  // namespace

bool is_running(const Panel& p, const LessonRun& run) {
  return p.model.job() && p.model.job()->id == run.job;
}

// The order of the cards is the same before, during and after a run.
void draw_lesson_stage(const Panel& p, const LessonInfo& lesson) {
  const LessonRun* run = p.model.lesson_run(lesson.name);
  const bool measured = run != nullptr && !run->empty();
  if (measured && run->done) done_card(p, lesson, *run);
  if (run != nullptr && run->others) draw_class(p, lesson, *run);
  constexpr float kBeside = 1100;  // units
  const bool beside = measured && run->done && !is_running(p, *run) && width_left(p) >= kBeside;
  if (measured) first_cards(p, lesson, *run);
  if (lesson.about_machine) beside ? machine_card(p, run) : steps_and_more(p, lesson, run);
  if (measured) {
    measured_cards(p, lesson, *run, beside);
    if (run->done) notes_card(p, lesson, *run);
  }
  if (!lesson.about_machine && !beside) steps_and_more(p, lesson, run);
  if (p.view.forms.learn.lists_below_texts) return;
  if (beside || lesson.about_machine) draw_lesson_list(p, lesson, true);
}

}  // namespace lab::ui
