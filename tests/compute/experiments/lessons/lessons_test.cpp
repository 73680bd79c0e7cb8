// The engine of the lessons, and short runs of the lessons.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/core/error.h"
#include "compute/experiments/lessons/lesson.h"
#include "compute/experiments/lessons/lesson_experiment.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"

namespace lab {
namespace {

using test::message_of;
using test::Probe;

template <typename News>
std::vector<News> news_of(const Probe& probe) {
  std::vector<News> found;
  for (const LessonEvent& event : probe.all<LessonEvent>()) {
    if (const auto* news = std::get_if<News>(&event.news)) found.push_back(*news);
  }
  return found;
}

StartLesson lesson(const std::string& name, std::optional<double> vary = {}) {
  StartLesson request;
  request.lesson = name;
  request.vary = vary;
  return request;
}

void run(Probe& probe, const StartLesson& request) {
  probe.run(*make_lesson_experiment(request));
}

struct ShortLesson {
  const char* name;
  std::optional<double> vary;
};

class Lessons : public testing::TestWithParam<ShortLesson> {};

TEST_P(Lessons, HoldsAndExplainsItsGap) {
  Probe probe(2);
  run(probe, lesson(GetParam().name, GetParam().vary));
  const auto done = news_of<LessonDone>(probe);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_FALSE(done[0].sentence.empty());
  EXPECT_TRUE(done[0].answer.has_value());
  for (const LessonCheck& check : done[0].checks) EXPECT_TRUE(check.passed) << check.what;
  EXPECT_FALSE(news_of<LessonSample>(probe).empty());
  for (const LessonGap& gap : news_of<LessonGap>(probe)) {
    double sum = gap.predicted;
    for (const GapPart& part : gap.parts) sum += part.value;
    EXPECT_NEAR(sum, gap.measured, 1e-9 * std::abs(gap.measured) + 1e-15) << gap.what;
    EXPECT_EQ(gap.parts.back().cause, "unexplained");
  }
  EXPECT_EQ(news_of<LessonStepBegun>(probe).size(),
            lessons::find_lesson(GetParam().name).info.steps.size());
  for (const Device device : probe.machine.devices()) {
    EXPECT_EQ(probe.machine.at(device).memory().used_bytes(), 0) << to_string(device);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Lessons,
                         testing::Values(ShortLesson{"devices", {}}, ShortLesson{"tensors", 64},
                                         ShortLesson{"copies", 1}, ShortLesson{"log", {}},
                                         ShortLesson{"together", 64}, ShortLesson{"network", {}},
                                         ShortLesson{"memory", 32}, ShortLesson{"allreduce", 3},
                                         ShortLesson{"equal", {}}),
                         [](const auto& param) { return param.param.name; });

TEST(LessonStage, ReportsTheGuessBeforeMeasuring) {
  Probe probe(2);
  StartLesson request = lesson("tensors", 128);
  request.guess = "64 KiB";
  run(probe, request);
  const auto guesses = news_of<LessonGuess>(probe);
  ASSERT_EQ(guesses.size(), 1U);
  EXPECT_EQ(guesses[0].answer.values, std::vector<double>{65536});
  EXPECT_EQ(news_of<LessonDone>(probe)[0].answer, guesses[0].answer);
}

TEST(LessonStage, RefusesWhatItCannotRun) {
  Probe one(1);
  EXPECT_EQ(message_of([&] { run(one, lesson("copies")); }, Errc::Unsupported),
            "lesson copies: needs 2 devices, but 1 is given; split the CPU with --cpu-devices 2");
  EXPECT_EQ(message_of([&] { run(one, lesson("tensors", 9000)); }, Errc::Usage),
            "lesson tensors: 9000 must be between 64 and 8192");
  EXPECT_EQ(message_of([&] { run(one, lesson("devices", 2)); }, Errc::Usage),
            "lesson devices: it has no setting to vary");
  const std::string unknown = message_of([&] { run(one, lesson("elsewhere")); }, Errc::NotFound);
  EXPECT_EQ(unknown.rfind("unknown lesson 'elsewhere'; choose one of devices, tensors", 0), 0U)
      << unknown;
  StartLesson request = lesson("tensors", 64);
  request.devices = {cpu(3)};
  EXPECT_THROW(run(one, request), Error);
}

TEST(LessonStage, CanBeCancelled) {
  Probe probe(2);
  const auto experiment = make_lesson_experiment(lesson("link"));
  EXPECT_EQ(
      message_of([&] { probe.run_until<LessonEvent>(*experiment, 3); }, Errc::Cancelled).empty(),
      false);
}

TEST(LessonList, EveryLessonIsComplete) {
  for (const LessonInfo& info : lesson_list()) {
    SCOPED_TRACE(info.name);
    EXPECT_FALSE(info.title.empty());
    EXPECT_GE(info.text.size(), 3U);
    EXPECT_FALSE(info.steps.empty());
    EXPECT_FALSE(info.question.text.empty());
    for (const LessonStep& step : info.steps) EXPECT_FALSE(step.title.empty());
    if (info.question.choices.empty()) {
      EXPECT_LT(info.question.low, info.question.high);
    }
    if (info.vary) {
      EXPECT_LE(info.vary->low, info.vary->value);
      EXPECT_LE(info.vary->value, info.vary->high);
    }
  }
}

}  // namespace
}  // namespace lab
