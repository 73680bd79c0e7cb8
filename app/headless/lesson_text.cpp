// A lesson as text: guess, prediction, measurement, gap, sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/headless/printer.h"
#include "compute/core/events/spread.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/lesson_experiment.h"

namespace lab::app {
namespace {

class LessonTextPrinter final : public Printer {
 public:
  LessonTextPrinter(Console& console, LessonInfo info)
      : console_(console), info_(std::move(info)) {}

  void show(const Payload& payload) override {
    if (const auto* event = std::get_if<LessonEvent>(&payload)) {
      std::visit([this](const auto& result) { add(result); }, event->result);
      return;
    }
    show_common(console_, payload);
  }

 private:
  void beat(const std::string& name, const std::string& text) {
    console_.line(fmt::format("  {:<10} {}", name == last_beat_ ? "" : name, text));
    last_beat_ = name;
  }

  // "copy" or, for a point of a curve, "copy at 4.00 KiB".
  static std::string named(const std::string& series, const std::optional<double>& x,
                           const std::string& unit) {
    return x ? trf("{} at {}", series, quantity_text(*x, unit)) : series;
  }

  void add(const LessonStepBegun&) {}
  void add(const LessonSpan&) {}

  void add(const LessonGuess& guess) {
    guess_ = guess;
    beat(tr("guess"), guess.text);
  }

  void add(const LessonPrediction& p) {
    // The formula of a curve is the same at every position.
    beat(tr("predicted"),
         fmt::format("{}: {}", named(p.series, p.x, p.x_unit), quantity_text(p.value, p.unit)));
    if (!explained_.insert(p.series).second || p.formula.empty()) return;
    std::string constants;
    for (const NamedQuantity& c : p.constants) {
      constants += fmt::format("{}{} {}", constants.empty() ? "" : ", ", c.name,
                               quantity_text(c.value, c.unit));
    }
    beat(tr("predicted"),
         fmt::format("  = {}{}{}", p.formula, constants.empty() ? "" : "; ", constants));
  }

  void add(const LessonSample& s) {
    if (!s.draws.empty() && s.text.empty()) return add_draws(s);
    if (!s.group.empty() && headings_.insert(s.group).second) beat(tr("measured"), s.group);
    std::string text = fmt::format("{}: ", named(s.series, s.x, s.x_unit));
    text += s.text.empty() ? quantity_text(s.value, s.unit) : s.text;
    if (s.time.n > 0 && s.text.empty()) {
      const std::string spread = fmt::format("n {}, {}", s.time.n, spread_text(s.time));
      text += fmt::format("  ({})", s.time.unstable ? trf("{}, unsteady", spread) : spread);
    }
    beat(tr("measured"), text);
  }

  // A fan's points are left to JSON and the window.
  void add_draws(const LessonSample& s) {
    if (s.x) return;
    const Spread spread = spread_of(s);
    beat(tr("measured"),
         trf("{}: {}  (n {}, {} to {})", s.series, mean_text(spread, s.unit), spread.n,
             quantity_text(spread.least, s.unit), quantity_text(spread.most, s.unit)));
  }

  void add(const LessonFrame& frame) {
    if (frame.step == 0) beat(tr("sequence"), tr(frame.sequence));
    beat(tr("sequence"), fmt::format("  {}. {}", frame.step + 1, frame.title));
    for (const LessonRow& row : frame.rows) {
      beat(tr("sequence"),
           fmt::format(
               "     {}{}: {}", row.group.empty() ? "" : row.group + ", ", row.name,
               row.text.empty() ? fmt::format("{:.6g}", fmt::join(row.values, ", ")) : row.text));
    }
  }

  void add(const LessonMap& map) {
    for (const LessonMap::Link& link : map.links) {
      beat(tr("measured"),
           fmt::format("{} - {}: {}", to_string(link.from), to_string(link.to), link.what));
    }
  }

  void add(const LessonClass& all) {
    int most = 1;
    for (const ClassBin& bin : all.bins) most = std::max(most, bin.guesses);
    for (const ClassBin& bin : all.bins) {
      constexpr int kWidth = 40;
      const auto length = static_cast<std::size_t>(bin.guesses * kWidth / most);
      beat(tr("class"),
           fmt::format("{:<24}{:>4}  {}{}", bin.label, bin.guesses, std::string(length, '#'),
                       bin.answers > 0 ? " " + trf("<- measured: {}", bin.answers) : ""));
    }
    beat(tr("class"), trf("files: {}", all.people.size()));
  }

  void add(const LessonGap& g) {
    const std::string predicted = quantity_text(g.predicted, g.unit);
    const std::string measured = quantity_text(g.measured, g.unit);
    beat(tr("gap"), g.modelled ? trf("{}: predicted {}, modelled {}", g.what, predicted, measured)
                               : trf("{}: predicted {}, measured {}", g.what, predicted, measured));
    for (const GapPart& part : g.parts) {
      if (part.value == 0) continue;
      beat(tr("gap"), "  " + part_text(part, g.unit));
    }
    if (!g.note.empty()) beat(tr("gap"), "  " + g.note);
  }

  void add(const LessonDone& done) {
    if (done.judges() && guess_) {
      beat(tr("guess"), trf("{}: {}; the answer is {}", guess_->text,
                            verdict(info_.question, guess_->answer, *done.answer),
                            answer_text(info_.question, *done.answer)));
    }
    if (!done.why_open.empty()) {
      beat(tr("guess"), done.why_open);
      if (done.answer) beat(tr("guess"), unjudged_text(info_.question, *done.answer));
    }
    for (const LessonCheck& check : done.checks) {
      if (check.passed) continue;
      beat(tr("broken"), check.what + (check.detail.empty() ? "" : ": " + check.detail));
    }
    beat(tr("sentence"), done.sentence);
    if (!done.explanation.empty()) beat(tr("sentence"), done.explanation);
  }

  Console& console_;
  const LessonInfo info_;
  std::optional<LessonGuess> guess_;
  std::string last_beat_;
  std::set<std::string> explained_, headings_;
};

}  // namespace

std::unique_ptr<Printer> make_lesson_text(Console& console, const std::string& name) {
  for (LessonInfo& lesson : lesson_list()) {
    if (lesson.name == name) {
      return std::make_unique<LessonTextPrinter>(console, std::move(lesson));
    }
  }
  return std::make_unique<LessonTextPrinter>(console, LessonInfo{});
}

}  // namespace lab::app
