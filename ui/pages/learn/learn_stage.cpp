// The right column of a lesson: what was measured, predictions and gaps, and the sentence.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/pages/learn/learn_parts.h"
#include "ui/pages/step_parts.h"
#include "ui/plot/plot.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::array kLessonMarkers = {plot::Marker::Circle,   plot::Marker::Square,
                                       plot::Marker::Triangle, plot::Marker::Diamond,
                                       plot::Marker::Cross,    plot::Marker::Wedge};

std::string spread(const Timing& t) {
  if (t.n == 0) return {};
  const double half = t.median_s > 0 ? (t.p90_s - t.p10_s) / 2 / t.median_s : 0;
  return fmt::format("{} runs, ±{}{}", t.n, percent(half), t.unstable ? ", unstable" : "");
}

// --- measured -------------------------------------------------------------------------------

void sample_table(const Panel& p, const LessonRun& run) {
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const LessonSample& s = run.samples[i];
    const std::string value = s.text.empty() ? quantity_text(s.value, s.unit) : s.text;
    fact(p.ui, s.series, std::string_view(value), spread(s.time));
    record_item(p.ui, fmt::format("learn/sample/{}", i), "text", s.series, value);
  }
}

plot::Series curve_of(const Panel& p, const LessonSeries& from, int index, bool predicted) {
  plot::Series s;
  s.label = predicted ? from.name + ", predicted" : from.name;
  s.color = series_color(*p.ui.theme, index);
  s.line = predicted ? plot::Line::Dotted : plot::Line::Solid;
  if (!predicted)
    s.marker = kLessonMarkers[static_cast<std::size_t>(index) % kLessonMarkers.size()];
  s.x = from.x;
  s.y = from.y;
  s.describe = [&from, predicted](std::size_t i) {
    std::string text =
        fmt::format("{}{} at {}: {}", from.name, predicted ? ", predicted" : "",
                    quantity_text(from.x[i], from.x_unit), quantity_text(from.y[i], from.unit));
    if (!predicted && from.times[i].n > 0) text += "\n" + spread(from.times[i]);
    return text;
  };
  return s;
}

void curves(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  if (run.measured.empty()) return;
  std::vector<plot::Series> series;
  for (std::size_t i = 0; i < run.measured.size(); ++i) {
    series.push_back(curve_of(p, run.measured[i], static_cast<int>(i), false));
  }
  for (const LessonSeries& predicted : run.predicted) {
    const auto same = std::find_if(run.measured.begin(), run.measured.end(),
                                   [&](const LessonSeries& m) { return m.name == predicted.name; });
    if (predicted.x.size() < 2) continue;
    series.push_back(curve_of(p, predicted, static_cast<int>(same - run.measured.begin()), true));
    series.back().in_legend = predicted.name == run.predicted.front().name;
    if (series.back().in_legend) series.back().label = "predicted";
  }
  if (run.guess && !lesson.question.at.empty()) {
    plot::Series guess;
    guess.label = "your guess";
    guess.color = p.ui.theme->accent;
    guess.line = plot::Line::DashDot;
    guess.marker = plot::Marker::Diamond;
    guess.hollow = true;
    guess.x = lesson.question.at;
    guess.y = run.guess->answer.values;
    series.push_back(std::move(guess));
  }
  const bool logarithmic = lesson.figure == LessonFigure::Curves;
  const plot::Scale scale = logarithmic ? plot::Scale::Log2 : plot::Scale::Linear;
  const LessonSeries& first = run.measured.front();
  const plot::Axes axes{.x = {.label = lesson.x_label,
                              .scale = scale,
                              .unit = first.x_unit,
                              .binary = first.x_unit == "B"},
                        .y = {.label = lesson.y_label,
                              .scale = logarithmic ? plot::Scale::Log10 : plot::Scale::Linear,
                              .unit = first.unit}};
  plot::draw(p.ui, "learn/plot", axes, series,
             {.height = 300, .grows = true, .empty_text = "No point yet"}, p.out);
}

void measured_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  const bool plotted = !run.measured.empty() && lesson.figure != LessonFigure::Heat;
  Card card(p, "learn/measured", "Measured", {.extra = plotted ? spare_height(p) : 0});
  if (!card) return;
  if (lesson.figure == LessonFigure::Heat) {
    draw_heat(p, "learn/heat", lesson, run.measured);
  } else {
    curves(p, lesson, run);
  }
  if (!run.spans.empty()) draw_lanes(p, "learn/lanes", run.spans);
  sample_table(p, run);
}

// --- predicted ------------------------------------------------------------------------------

void formula(const Panel& p, const LessonPrediction& prediction) {
  std::string constants;
  for (const NamedQuantity& c : prediction.constants) {
    constants += fmt::format("{}{} {}", constants.empty() ? "" : ", ", c.name,
                             quantity_text(c.value, c.unit));
  }
  if (prediction.formula.empty()) return;
  muted(p.ui,
        fmt::format("= {}{}{}", prediction.formula, constants.empty() ? "" : "; ", constants));
}

void prediction_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  Card card(p, "learn/predicted", "Guess and prediction");
  if (!card) return;
  if (run.guess) {
    const std::string& text = run.guess->text;
    fact(p.ui, "Your guess", std::string_view(text));
    if (run.done && run.done->answer) {
      const std::string answer = answer_text(lesson.question, *run.done->answer);
      fact(p.ui, "The answer", std::string_view(answer));
      const std::string how = verdict(lesson.question, run.guess->answer, *run.done->answer);
      fact(p.ui, "The guess is", std::string_view(how));
      record_item(p.ui, "learn/verdict", "text", how);
    }
  } else {
    fact(p.ui, "Your guess", std::string_view("none"));
  }
  for (const LessonPrediction& prediction : run.predictions) {
    fact(p.ui, prediction.series,
         std::string_view(quantity_text(prediction.value, prediction.unit)));
    formula(p, prediction);
  }
  if (run.curve) {
    body(p.ui, run.curve->series + " and others, dotted in the plot");
    formula(p, *run.curve);
  }
  if (run.predictions.empty() && !run.curve && lesson.question.choices.empty()) {
    muted(p.ui, "This lesson predicts nothing; it compares what it observes.");
  }
}

void gap_card(const Panel& p, const LessonRun& run) {
  Card card(p, "learn/gap", "Gap",
            {.hint = "The difference between prediction and measurement, cut into its causes"});
  if (!card) return;
  if (run.gaps.empty()) muted(p.ui, "Shown once both are known.");
  for (std::size_t i = 0; i < run.gaps.size(); ++i) {
    draw_gap(p, fmt::format("learn/gap/{}", i), run.gaps[i]);
  }
}

// --- concluded ------------------------------------------------------------------------------

void vary_field(const Panel& p, const LessonInfo& lesson) {
  const LessonVary& vary = *lesson.vary;
  double& value = p.view.forms.learn.vary.try_emplace(lesson.name, vary.value).first->second;
  double shown = value;
  if (input_number(p.ui, "learn/vary", vary.label, shown,
                   {.min = vary.low,
                    .max = vary.high,
                    .step = vary.doubling ? value : std::max(1.0, value / 4),
                    .unit = vary.unit,
                    .hint = "The lesson's one setting"})) {
    // The minus button of a doubling setting halves it.
    value = vary.doubling && shown < value ? std::max(vary.low, value / 2) : shown;
  }
}

void done_card(const Panel& p, const LessonInfo& lesson, const LessonRun& run) {
  Card card(p, "learn/sentence", "In one sentence");
  if (!card) return;
  body(p.ui, run.done->sentence);
  record_item(p.ui, "learn/sentence_text", "text", run.done->sentence);
  for (const LessonCheck& check : run.done->checks) {
    if (check.passed) continue;
    error_box(p.ui, "learn/broken/" + check.what, "Does not hold: " + check.what);
  }
  const auto passed = std::count_if(run.done->checks.begin(), run.done->checks.end(),
                                    [](const LessonCheck& c) { return c.passed; });
  if (!run.done->checks.empty()) {
    std::string all;
    for (const LessonCheck& c : run.done->checks) all += (all.empty() ? "" : "\n") + c.what;
    const auto all_checks = std::ssize(run.done->checks);
    caption(p.ui,
            passed == all_checks
                ? fmt::format("Checked: {}",
                              all_checks == 1 ? "one statement holds"
                                              : fmt::format("all {} statements hold", all_checks))
                : fmt::format("{} of {} statements hold", passed, all_checks));
    hint(p.ui, all);
  }
  if (!lesson.vary && !lesson.free) return;
  Row row(p.ui, {1, 1, 1});
  row.next();
  if (lesson.vary) vary_field(p, lesson);
  row.next();
  control_label(p.ui, " ");
  const std::string why = busy_reason(p);
  if (lesson.vary && button(p.ui, "learn/again", "Measure again",
                            {.enabled = why.empty(), .hint = why, .width = -1})) {
    start_lesson(p, lesson);
  }
  row.next();
  control_label(p.ui, " ");
  if (lesson.free &&
      button(p.ui, "learn/free", "Try it freely",
             {.hint = "Opens the experiment's page; the title leads back here", .width = -1})) {
    fill_form(p.view.forms, *lesson.free);
    p.view.page = page_of(*lesson.free);
    p.view.forms.learn.back = lesson.name;
  }
}

}  // namespace

void draw_lesson_stage(const Panel& p, const LessonInfo& lesson) {
  const LessonRun* run = p.model.lesson_run(lesson.name);
  if (run == nullptr || run->empty()) {
    Card card(p, "learn/stage", "Nothing measured yet");
    if (!card) return;
    body(p.ui,
         "Answer the question, or leave it open, and press Measure. Your guess, the "
         "prediction and the measurement then appear here side by side.");
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      muted(p.ui, fmt::format("{}. {}", i + 1, lesson.steps[i].title));
    }
    return;
  }
  if (run->done) done_card(p, lesson, *run);
  const bool drawn = !run->measured.empty() || !run->spans.empty();
  if (drawn) measured_card(p, lesson, *run);
  {
    Pair pair(p);
    pair.next();
    prediction_card(p, lesson, *run);
    pair.next();
    gap_card(p, *run);
  }
  if (!drawn) measured_card(p, lesson, *run);
}

}  // namespace lab::ui
