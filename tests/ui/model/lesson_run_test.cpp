// Results of a lesson, as they arrive.
#include "ui/model/lesson_run.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lab::ui {
namespace {

LessonSample drawn(double x, std::vector<double> draws) {
  LessonSample sample;
  sample.series = "two GPUs";
  sample.x = x;
  sample.value = draws.front();
  sample.draws = std::move(draws);
  return sample;
}

TEST(LessonRunDraws, FormOneLinePerRun) {
  LessonRun run;
  run.add(drawn(1, {0.1, 0.3}));
  run.add(drawn(3, {0.5, 0.9}));
  run.add(drawn(2, {0.2, 0.4}));
  ASSERT_EQ(run.measured.size(), 1U);
  const LessonSeries& series = run.measured[0];
  EXPECT_EQ(series.x, (std::vector<double>{1, 2, 3}));
  ASSERT_EQ(series.lines.size(), 2U);
  EXPECT_EQ(series.lines[0], (std::vector<double>{0.1, 0.2, 0.5}));
  EXPECT_EQ(series.lines[1], (std::vector<double>{0.3, 0.4, 0.9}));
  EXPECT_NEAR(series.low[0], 0.2 - 0.1 * std::sqrt(2), 1e-12);
  EXPECT_NEAR(series.high[0], 0.2 + 0.1 * std::sqrt(2), 1e-12);
}

TEST(LessonRunDraws, BreakTheLineWhereARunIsMissing) {
  LessonRun run;
  run.add(drawn(1, {0.1}));
  run.add(drawn(2, {0.2, 0.4}));
  const LessonSeries& series = run.measured[0];
  ASSERT_EQ(series.lines.size(), 2U);
  EXPECT_TRUE(std::isnan(series.lines[1][0]));
  EXPECT_EQ(series.lines[1][1], 0.4);
}

TEST(LessonRunTimes, HaveTheRangeOfTheirRepetitions) {
  LessonRun run;
  LessonSample sample;
  sample.unit = "s";
  sample.time = {.median_s = 2, .p10_s = 1, .p90_s = 4, .n = 9};
  sample.x = 2;
  sample.value = 2;
  run.add(sample);
  sample.time = {.median_s = 2, .p10_s = 1.9, .p90_s = 2.1, .n = 9};
  sample.x = 1;
  run.add(sample);
  sample.series = "rate";
  sample.unit = "images/s";
  sample.value = 100;
  sample.time = {.median_s = 2, .p10_s = 1, .p90_s = 4, .n = 9};
  run.add(sample);
  ASSERT_EQ(run.measured.size(), 2U);
  EXPECT_EQ(run.measured[0].unsteady, (std::vector<double>{0, 1}));
  EXPECT_EQ(run.measured[0].low, (std::vector<double>{1.9, 1}));
  EXPECT_EQ(run.measured[0].high, (std::vector<double>{2.1, 4}));
  EXPECT_EQ(run.measured[1].low, (std::vector<double>{50})) << "the slowest repetitions";
  EXPECT_EQ(run.measured[1].high, (std::vector<double>{200}));
}

}  // namespace
}  // namespace lab::ui
