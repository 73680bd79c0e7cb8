#pragma once
// The results of one lesson, as they arrive.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/silicon.h"

namespace lab::ui {

// Points of one series with a position, measured or predicted.
struct LessonSeries {
  std::string name;
  std::string group;  // LessonSample::group
  std::string unit, x_unit;
  std::vector<double> x, y;
  std::vector<Timing> times;               // of measured points
  std::vector<std::vector<double>> lines;  // of repeated runs, one per run, as long as x
  // The range of measured points: mean -+ deviation of repeated runs, otherwise p10 and p90.
  std::vector<double> low, high;
  std::vector<double> unsteady;  // of measured points, 1 where the time is_unsteady()

  bool has_unsteady() const { return std::ranges::find(unsteady, 1) != unsteady.end(); }
};

struct LessonRun {
  LessonRun() = default;
  LessonRun(StartLesson asked, JobId id) : request(std::move(asked)), job(id) {}

  void add(const LessonResult& result);
  bool empty() const {
    return predictions.empty() && samples.empty() && measured.empty() && spans.empty() &&
           frames.empty() && !map && !done;
  }

  StartLesson request;
  JobId job = 0;
  std::optional<std::size_t> step;  // running
  std::optional<LessonGuess> guess;
  std::vector<LessonPrediction> predictions;  // without a position
  std::vector<LessonSample> samples;          // without a position
  std::vector<LessonSeries> measured, predicted;
  std::optional<LessonPrediction> curve;  // first prediction with a position, for its formula
  std::vector<LessonSpan> spans;
  std::vector<LessonGap> gaps;
  std::vector<LessonFrame> frames;  // in the order of their sequences and steps
  std::optional<LessonMap> map;
  std::shared_ptr<const Silicon> silicon;  // of the map's devices; null without a map
  std::optional<LessonClass> others;       // guesses of a class; kept when the lesson runs again
  std::optional<LessonDone> done;
  double others_used = 0;  // CoresShared::others, if notable
};

}  // namespace lab::ui
