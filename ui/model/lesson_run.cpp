#include "ui/model/lesson_run.h"

#include <algorithm>

namespace lab::ui {
namespace {

LessonSeries& series_named(std::vector<LessonSeries>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LessonSeries& s) { return s.name == name; });
  if (found != all.end()) return *found;
  all.push_back({name, {}, {}, {}, {}, {}});
  return all.back();
}

// Keeps the positions ascending: a lesson may measure its last point first.
template <typename News>
void add_point(std::vector<LessonSeries>& all, const News& news, const Timing& time) {
  LessonSeries& series = series_named(all, news.series);
  series.unit = news.unit;
  series.x_unit = news.x_unit;
  const auto at = std::upper_bound(series.x.begin(), series.x.end(), *news.x) - series.x.begin();
  series.x.insert(series.x.begin() + at, *news.x);
  series.y.insert(series.y.begin() + at, news.value);
  series.times.insert(series.times.begin() + at, time);
}

struct AddNews {
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
  void operator()(const LessonDone& e) const {
    run.done = e;
    run.step.reset();
  }
};

}  // namespace

void LessonRun::add(const LessonNews& news) {
  std::visit(AddNews{*this}, news);
}

}  // namespace lab::ui
