// Answers to the lessons' questions, as typed and as shown.
#include "compute/core/events/lesson.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "tests/support/errors.h"

namespace lab {
namespace {

using test::message_of;

const LessonQuestion kChoice{.text = "?", .choices = {"an error", "a sum here", "a sum there"}};
const LessonQuestion kBytes{.text = "?", .unit = "B", .low = 1, .high = 1e9};
const LessonQuestion kCurve{
    .text = "?", .unit = "s", .low = 1e-9, .high = 1, .at = {1024, 1048576}, .at_unit = "B"};

TEST(LessonAnswers, ReadsAChoiceByNumberNameOrPart) {
  for (const char* text : {"2", "a sum here", "A Sum HERE", " sum here "}) {
    EXPECT_EQ(parse_answer(kChoice, text).values, std::vector<double>{1}) << text;
  }
  EXPECT_EQ(message_of([] { parse_answer(kChoice, "sum"); }, Errc::Usage),
            "guess 'sum' is not a choice; choose one of 1 (an error), 2 (a sum here), 3 (a sum "
            "there)");
  EXPECT_THROW(parse_answer(kChoice, "0"), Error);
  EXPECT_THROW(parse_answer(kChoice, ""), Error);
}

TEST(LessonVary, AllowsItsStepsOnly) {
  using Values = std::vector<double>;
  const LessonVary doubling{.low = 64, .high = 4096, .doubling = true};
  EXPECT_EQ(nearest_settings(doubling, 512), Values{512});
  EXPECT_EQ(nearest_settings(doubling, 700), (Values{512, 1024}));
  EXPECT_EQ(nearest_settings(doubling, 9000), Values{4096});
  const LessonVary whole{.low = 2, .high = 16, .whole = true};
  EXPECT_EQ(nearest_settings(whole, 3), Values{3});
  EXPECT_EQ(nearest_settings(whole, 2.5), (Values{2, 3}));
  EXPECT_EQ(nearest_settings({.low = 1, .high = 16}, 2.5), Values{2.5});
}

TEST(LessonSamples, SpreadAroundTheirValue) {
  LessonSample sample;
  sample.value = 2;
  sample.draws = {1, 2, 6};
  EXPECT_EQ(spread_of(sample).mean, 2);
  EXPECT_EQ(spread_of(sample).most, 6);
}

TEST(LessonAnswers, ReadsNumbersWithPrefixAndUnit) {
  EXPECT_EQ(parse_answer(kBytes, "4 MiB").values, std::vector<double>{4194304});
  EXPECT_EQ(parse_answer(kBytes, "4k").values, std::vector<double>{4000});
  EXPECT_EQ(parse_answer(kBytes, "12").values, std::vector<double>{12});
  for (const char* text : {"", "-1", "nan", "4 s", "1, 2", "four"}) {
    EXPECT_THROW(parse_answer(kBytes, text), Error) << text;
  }
}

TEST(LessonAnswers, ReadsOneNumberPerPositionOfACurve) {
  const LessonAnswer answer = parse_answer(kCurve, "2 us, 0.5ms");
  ASSERT_EQ(answer.values.size(), 2U);
  EXPECT_DOUBLE_EQ(answer.values[0], 2e-6);
  EXPECT_DOUBLE_EQ(answer.values[1], 5e-4);
  EXPECT_EQ(parse_answer(kCurve, answer_text(kCurve, answer)).values, answer.values);
  EXPECT_EQ(message_of([] { parse_answer(kCurve, "1e-6"); }, Errc::Usage),
            "guess '1e-6' has 1 number; write 2, one each for 1.00 KiB, 1.00 MiB");
  EXPECT_EQ(message_of([] { parse_answer(kCurve, "1, 2, 3"); }, Errc::Usage),
            "guess '1, 2, 3' has 3 numbers; write 2, one each for 1.00 KiB, 1.00 MiB");
  EXPECT_EQ(message_of([] { parse_answer(kBytes, "1, 2"); }, Errc::Usage),
            "guess '1, 2' has 2 numbers; write one");
}

TEST(LessonAnswers, MayGroupTheirDigits) {
  for (const char* text : {"4,194,304", "4 194 304", "4'194'304 B"}) {
    EXPECT_EQ(parse_answer(kBytes, text).values, std::vector<double>{4194304}) << text;
  }
  EXPECT_EQ(parse_answer(kBytes, "1,024 KiB").values, std::vector<double>{1048576});
  for (const char* text : {"4,19", "4,1943", ",194", "4,194,", "1,2,3", "0,125", "12345,678"}) {
    EXPECT_THROW(parse_answer(kBytes, text), Error) << text;
  }
  EXPECT_EQ(parse_answer(kCurve, "1,200").values, (std::vector<double>{1, 200}))
      << "commas separate the numbers of a curve";
  EXPECT_EQ(parse_answer(kCurve, "10 000, 2").values, (std::vector<double>{10000, 2}));
}

TEST(LessonQuestions, NameTheSetting) {
  LessonInfo info;
  info.question.text = "N is {}. How many?";
  info.vary = LessonVary{.low = 64, .high = 4096, .value = 1024};
  EXPECT_EQ(question_text(info), "N is 1024. How many?");
  EXPECT_EQ(question_text(info, 512), "N is 512. How many?");
  info.question.text = "How many?";
  EXPECT_EQ(question_text(info), "How many?");
}

TEST(LessonAnswers, ComparesAGuessWithTheAnswer) {
  EXPECT_EQ(verdict(kChoice, {{0}}, {{0}}), "right");
  EXPECT_EQ(verdict(kChoice, {{1}}, {{0}}), "wrong");
  EXPECT_EQ(verdict(kBytes, {{100}}, {{105}}), "right within a tenth");
  EXPECT_EQ(verdict(kBytes, {{100}}, {{250}}), "too low");
  EXPECT_EQ(verdict(kBytes, {{299}}, {{100}}), "too high");
  EXPECT_EQ(verdict(kBytes, {{4194304}}, {{4194304}}), "exactly right");
  EXPECT_EQ(verdict(kCurve, {{1e-6, 4e-3}}, {{1e-6, 1e-3}}),
            "too high at 1.00 MiB, right at 1.00 KiB");
  EXPECT_EQ(verdict(kCurve, {{3.3e-5, 6e-9}}, {{1e-5, 1e-3}}),
            "too low at 1.00 MiB, too high at 1.00 KiB");
  EXPECT_EQ(verdict(kCurve, {{0, 0}}, {{1e-5, 1e-3}}), "too low at 1.00 KiB and 1.00 MiB");
  EXPECT_EQ(verdict(kCurve, {{1.05e-6, 1e-3}}, {{1e-6, 1e-3}}), "right within a tenth");
  EXPECT_EQ(verdict(kCurve, {{1e-6, 1e-3}}, {{1e-6, 1e-3}}), "exactly right");
  EXPECT_EQ(verdict(kBytes, {{0}}, {{5}}), "too low");
}

TEST(LessonAnswers, AreRightWithinATenth) {
  EXPECT_TRUE(is_right(kChoice, {{1}}, {{1}}));
  EXPECT_FALSE(is_right(kChoice, {{1}}, {{0}}));
  EXPECT_TRUE(is_right(kBytes, {{100}}, {{105}}));
  EXPECT_FALSE(is_right(kBytes, {{100}}, {{120}}));
  EXPECT_FALSE(is_right(kCurve, {{1e-6, 4e-3}}, {{1e-6, 1e-3}}));
}

TEST(LessonAnswers, AreShownRoughWithoutAVerdict) {
  EXPECT_EQ(unjudged_text(kBytes, {{4194304}}),
            "The answer: 4.00 MiB (rough: the machine was busy)");
  EXPECT_EQ(unjudged_text(kChoice, {{0}}), "The answer: " + kChoice.choices[0]);
}

TEST(LessonQuantities, HaveUnits) {
  EXPECT_EQ(quantity_text(1.5, "x"), "1.50x");
  EXPECT_EQ(quantity_text(4096, "B"), "4.00 KiB");
  EXPECT_EQ(quantity_text(-2e-3, "s"), "-2.00 ms");
  EXPECT_EQ(quantity_text(3, ""), "3");
  EXPECT_EQ(quantity_text(1.953, "cores"), "1.95 cores");
  EXPECT_EQ(quantity_text(0.20113, ""), "0.201");
  EXPECT_EQ(quantity_text(126.2, ""), "126");
  EXPECT_EQ(quantity_text(254930.4, ""), "254,930");
  EXPECT_EQ(quantity_text(2048, ""), "2048") << "a size, not a count";
  EXPECT_EQ(quantity_text(2e9, "FLOP/s"), "2.00 GFLOP/s");
}

LessonAnswer values(std::vector<double> numbers) {
  return {std::move(numbers)};
}

int total(const std::vector<ClassBin>& bins, int ClassBin::*counter) {
  int sum = 0;
  for (const ClassBin& bin : bins) sum += bin.*counter;
  return sum;
}

TEST(ClassHistogram, CountsChoices) {
  const auto bins = class_histogram(
      kChoice,
      {{"a", values({0}), values({1})}, {"b", values({1}), values({1})}, {"c", {}, values({1})}});
  ASSERT_EQ(bins.size(), kChoice.choices.size());
  EXPECT_EQ(bins[0].label, kChoice.choices[0]);
  EXPECT_EQ(bins[0].guesses, 1);
  EXPECT_EQ(bins[1].guesses, 1);
  EXPECT_EQ(bins[1].answers, 3);
}

TEST(ClassHistogram, SortsNumbersIntoLogarithmicBins) {
  const auto bins = class_histogram(kBytes, {{"a", values({10}), values({2000})},
                                             {"b", values({1e12}), values({3000})},
                                             {"c", values({0}), {}}});
  EXPECT_LE(bins.size(), 16U);
  EXPECT_EQ(bins.front().guesses, 2) << "10 and 0";
  EXPECT_EQ(bins.back().guesses, 1);
  EXPECT_EQ(total(bins, &ClassBin::guesses), 3);
  EXPECT_EQ(total(bins, &ClassBin::answers), 2);
  for (std::size_t i = 1; i < bins.size(); ++i)
    EXPECT_NEAR(bins[i].low / bins[i - 1].high, 1, 1e-9);
}

TEST(ClassHistogram, ComparesACurveWithTheAnswerOfItsFile) {
  const auto bins = class_histogram(kCurve, {{"a", values({2e-6, 1e-3}), values({1e-6, 1e-3})}});
  EXPECT_EQ(total(bins, &ClassBin::guesses), 2) << "one per position";
  EXPECT_EQ(total(bins, &ClassBin::answers), 1);
  EXPECT_LE(bins.front().low, 1);
  EXPECT_GT(bins.back().high, 2);
}

}  // namespace
}  // namespace lab
