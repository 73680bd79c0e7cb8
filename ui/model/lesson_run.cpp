#include "ui/model/lesson_run.h"

#include <algorithm>
#include <cmath>

#include "compute/core/events/spread.h"
#include "compute/core/events/stats.h"

namespace lab::ui {
namespace {

LessonSeries& series_named(std::vector<LessonSeries>& all, const std::string& name,
                           const std::string& group) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const LessonSeries& s) {
    return s.name == name && s.group == group;
  });
  if (found != all.end()) return *found;
  all.emplace_back();
  all.back().name = name;
  all.back().group = group;
  return all.back();
}

LessonSeries& series_of(std::vector<LessonSeries>& all, const LessonSample& sample) {
  return series_named(all, sample.series, sample.group);
}

LessonSeries& series_of(std::vector<LessonSeries>& all, const LessonPrediction& prediction) {
  return series_named(all, prediction.series, {});
}

// Adds one point to the line of each run.
void add_draws(LessonSeries& series, const LessonSample& sample, std::ptrdiff_t at) {
  if (sample.draws.empty()) return;
  series.lines.resize(std::max(series.lines.size(), sample.draws.size()));
  for (std::size_t i = 0; i < series.lines.size(); ++i) {
    std::vector<double>& line = series.lines[i];
    const double value = i < sample.draws.size() ? sample.draws[i] : std::nan("");
    line.resize(series.x.size() - 1, std::nan(""));
    line.insert(line.begin() + at, value);
  }
  const Spread spread = spread_of(sample.draws);
  series.low.insert(series.low.begin() + at, spread.mean - spread.deviation);
  series.high.insert(series.high.begin() + at, spread.mean + spread.deviation);
}

// p10 and p90 in the unit of the value; the slowest repetitions have the lowest rates.
void add_range(LessonSeries& series, const LessonSample& sample, std::ptrdiff_t at) {
  const Timing& t = sample.time;
  series.unsteady.insert(series.unsteady.begin() + at, is_unsteady(t) ? 1 : 0);
  if (!sample.draws.empty()) return;
  const bool timed = t.p10_s > 0 && t.median_s > 0, rate = sample.unit.ends_with("/s");
  const double fast = timed ? t.p10_s / t.median_s : 1, slow = timed ? t.p90_s / t.median_s : 1;
  series.low.insert(series.low.begin() + at, sample.value * (rate ? 1 / slow : fast));
  series.high.insert(series.high.begin() + at, sample.value * (rate ? 1 / fast : slow));
}

// Keeps the positions ascending: a lesson may measure its last point first.
template <typename Result>
void add_point(std::vector<LessonSeries>& all, const Result& result, const Timing& time) {
  LessonSeries& series = series_of(all, result);
  series.unit = result.unit;
  series.x_unit = result.x_unit;
  const auto at = std::upper_bound(series.x.begin(), series.x.end(), *result.x) - series.x.begin();
  series.x.insert(series.x.begin() + at, *result.x);
  series.y.insert(series.y.begin() + at, result.value);
  series.times.insert(series.times.begin() + at, time);
  if constexpr (std::is_same_v<Result, LessonSample>) {
    add_draws(series, result, at);
    add_range(series, result, at);
  }
}

struct AddResult {
  LessonRun& run;

  void operator()(const LessonStepBegun& e) const { run.step = e.step; }
  void operator()(const LessonGuess& e) const { run.guess = e; }
  void operator()(const LessonPrediction& e) const {
    if (!e.x) return run.predictions.push_back(e);
    if (!run.curve) run.curve = e;
    add_point(run.predicted, e, {});
  }
  void operator()(const LessonSample& e) const {
    if (!e.x) return run.samples.push_back(e);
    add_point(run.measured, e, e.time);
  }
  void operator()(const LessonSpan& e) const { run.spans.push_back(e); }
  void operator()(const LessonGap& e) const { run.gaps.push_back(e); }
  void operator()(const LessonFrame& e) const { run.frames.push_back(e); }
  void operator()(const LessonMap& e) const {
    run.map = e;
    run.silicon = std::make_shared<const Silicon>(silicon_of(e.devices));
  }
  void operator()(const LessonClass& e) const { run.others = e; }
  void operator()(const LessonDone& e) const {
    run.done = e;
    run.step.reset();
  }
};

}  // namespace

void LessonRun::add(const LessonResult& result) {
  std::visit(AddResult{*this}, result);
}

}  // namespace lab::ui
