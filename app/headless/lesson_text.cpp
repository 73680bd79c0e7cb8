// A lesson as text: guess, prediction, measurement, gap, sentence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/headless/printer.h"
#include "compute/experiments/lessons/lesson_experiment.h"

namespace lab::app {
namespace {

class LessonTextPrinter final : public Printer {
 public:
  LessonTextPrinter(Console& console, LessonInfo info)
      : console_(console), info_(std::move(info)) {}

  void show(const Payload& payload) override {
    if (const auto* event = std::get_if<LessonEvent>(&payload)) {
      std::visit([this](const auto& news) { add(news); }, event->news);
      return;
    }
    show_common(console_, payload);
  }

 private:
  void beat(const std::string& name, const std::string& text) {
    console_.line(fmt::format("  {:<11}{}", name == last_beat_ ? "" : name, text));
    last_beat_ = name;
  }

  static std::string at(const std::optional<double>& x, const std::string& unit) {
    return x ? fmt::format(" at {}", quantity_text(*x, unit)) : "";
  }

  void add(const LessonStepBegun&) {}
  void add(const LessonSpan&) {}

  void add(const LessonGuess& guess) {
    guess_ = guess;
    beat("guess", guess.text);
  }

  void add(const LessonPrediction& p) {
    // The formula of a curve is the same at every position.
    beat("predicted",
         fmt::format("{}{}: {}", p.series, at(p.x, p.x_unit), quantity_text(p.value, p.unit)));
    if (!explained_.insert(p.series).second || p.formula.empty()) return;
    std::string constants;
    for (const NamedQuantity& c : p.constants) {
      constants += fmt::format("{}{} {}", constants.empty() ? "" : ", ", c.name,
                               quantity_text(c.value, c.unit));
    }
    beat("predicted",
         fmt::format("  = {}{}{}", p.formula, constants.empty() ? "" : "; ", constants));
  }

  void add(const LessonSample& s) {
    std::string text = fmt::format("{}{}: ", s.series, at(s.x, s.x_unit));
    text += s.text.empty() ? quantity_text(s.value, s.unit) : s.text;
    if (s.time.n > 0 && s.text.empty()) {
      text += fmt::format("  (n {}, {}{})", s.time.n, spread_text(s.time),
                          s.time.unstable ? ", unstable" : "");
    }
    beat("measured", text);
  }

  void add(const LessonGap& g) {
    beat("gap", fmt::format("{}: predicted {}, measured {}", g.what,
                            quantity_text(g.predicted, g.unit), quantity_text(g.measured, g.unit)));
    for (const GapPart& part : g.parts) {
      if (part.value == 0) continue;
      beat("gap", fmt::format("  {} {}{}", part.cause, part.value > 0 ? "+" : "",
                              quantity_text(part.value, g.unit)));
    }
  }

  void add(const LessonDone& done) {
    if (done.answer && guess_) {
      beat("guess", fmt::format("{}: {}; the answer is {}", guess_->text,
                                verdict(info_.question, guess_->answer, *done.answer),
                                answer_text(info_.question, *done.answer)));
    }
    for (const LessonCheck& check : done.checks) {
      if (check.passed) continue;
      beat("broken", check.what + (check.detail.empty() ? "" : ": " + check.detail));
    }
    beat("sentence", done.sentence);
  }

  Console& console_;
  const LessonInfo info_;
  std::optional<LessonGuess> guess_;
  std::string last_beat_;
  std::set<std::string> explained_;
};

}  // namespace

std::unique_ptr<Printer> make_lesson_text(Console& console, const StartLesson& request) {
  for (LessonInfo& lesson : lesson_list()) {
    if (lesson.name == request.lesson) {
      return std::make_unique<LessonTextPrinter>(console, std::move(lesson));
    }
  }
  return std::make_unique<LessonTextPrinter>(console, LessonInfo{});
}

}  // namespace lab::app
