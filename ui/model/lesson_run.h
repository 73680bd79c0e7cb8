#pragma once
// The results of one lesson, as they arrive.
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"

namespace lab::ui {

// Points of one series with a position, measured or predicted.
struct LessonSeries {
  std::string name;
  std::string unit, x_unit;
  std::vector<double> x, y;
  std::vector<Timing> times;  // of measured points
};

struct LessonRun {
  LessonRun() = default;
  LessonRun(StartLesson asked, JobId id) : request(std::move(asked)), job(id) {}

  void add(const LessonNews& news);
  bool empty() const {
    return predictions.empty() && samples.empty() && measured.empty() && spans.empty() && !done;
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
  std::optional<LessonDone> done;
};

}  // namespace lab::ui
