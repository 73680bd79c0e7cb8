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
            "guess '1e-6' has 1 numbers; write 2, one each for 1.00 KiB, 1.00 MiB");
}

TEST(LessonAnswers, ComparesAGuessWithTheAnswer) {
  EXPECT_EQ(verdict(kChoice, {{0}}, {{0}}), "right");
  EXPECT_EQ(verdict(kChoice, {{1}}, {{0}}), "wrong");
  EXPECT_EQ(verdict(kBytes, {{100}}, {{105}}), "right within a tenth");
  EXPECT_EQ(verdict(kBytes, {{100}}, {{250}}), "2.5 times too low");
  EXPECT_EQ(verdict(kCurve, {{1e-6, 4e-3}}, {{1e-6, 1e-3}}), "4 times too high");
  EXPECT_EQ(verdict(kBytes, {{0}}, {{5}}), "wrong");
}

TEST(LessonQuantities, HaveUnits) {
  EXPECT_EQ(quantity_text(1.5, "x"), "1.50x");
  EXPECT_EQ(quantity_text(4096, "B"), "4.00 KiB");
  EXPECT_EQ(quantity_text(-2e-3, "s"), "-2.00 ms");
  EXPECT_EQ(quantity_text(3, ""), "3");
  EXPECT_EQ(quantity_text(2e9, "FLOP/s"), "2.00 GFLOP/s");
}

}  // namespace
}  // namespace lab
