// The Learn page in every language: whole texts, in sight without scrolling.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "compute/experiments/lessons/lesson.h"
#include "tests/support/catalogs.h"
#include "tests/ui/events.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

class LearnLanguages : public ::testing::TestWithParam<Language> {};

// Sentence, verdict and the sequence below them, with a setting to vary and two buttons.
TEST_P(LearnLanguages, ShowResultsWithoutScrolling) {
  const WithLanguage translated(GetParam());
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1280, 800});
  lab.open(Page::Learn);
  constexpr float kStatusBar = 40;
  for (const char* path : {"learn/sentence_text", "learn/verdict", "learn/free", "learn/row/1"}) {
    const ui::WidgetRect* shown = lab.backend.find(path);
    ASSERT_NE(shown, nullptr) << path;
    EXPECT_LE(shown->max.y, 800 - kStatusBar) << path;
    EXPECT_GE(shown->max.y - shown->min.y, 15) << path;
  }
}

Model with_real_lessons() {
  MachineInfo machine = machine_of(2);
  for (DeviceInfo& device : machine.devices) device.threads = 2;
  Model model(machine);
  for (const lessons::Lesson& lesson : lessons::all_lessons()) {
    model.apply(event(0, 0, lesson.info));
  }
  return model;
}

// The texts of all lessons, as far as they are controls: titles, choices, labels, tabs.
TEST_P(LearnLanguages, FitTheTextsOfEveryLesson) {
  if (const ui::FontSet fonts; !fonts.shows(GetParam())) {
    GTEST_SKIP() << "no font of this language is installed";
  }
  const WithLanguage translated(GetParam());
  for (const float scale : {1.0F, 2.0F}) {
    Lab lab(with_real_lessons(), scale, {1280 * scale, 800 * scale});
    lab.view.page = Page::Learn;
    for (const lessons::Lesson& lesson : lessons::all_lessons()) {
      SCOPED_TRACE(fmt::format("{}, scale {}", lesson.info.name, scale));
      lab.view.forms.learn.lesson = lesson.info.name;
      lab.frames(2);
      EXPECT_TRUE(lab.visible("learn/measure")) << "below the window's end";
      for (const std::string& text : lab.backend.fonts.cut_texts()) {
        ADD_FAILURE() << "cut: " << text;
      }
      lab.backend.fonts.forget_cut_texts();
    }
  }
}

TEST_P(LearnLanguages, AskEveryQuestionWithoutScrolling) {
  const WithLanguage translated(GetParam());
  Lab lab(with_real_lessons(), 1, {1280, 720});
  lab.view.page = Page::Learn;
  for (const lessons::Lesson& lesson : lessons::all_lessons()) {
    SCOPED_TRACE(lesson.info.name);
    lab.view.forms.learn.lesson = lesson.info.name;
    lab.frames(4);
    const std::size_t choices = lesson.info.question.choices.size();
    const ui::WidgetRect* last = lab.backend.find(
        choices > 0 ? fmt::format("learn/choice/{}", choices) : std::string("learn/guess"));
    const ui::WidgetRect* button = lab.backend.find("learn/measure");
    ASSERT_NE(last, nullptr);
    ASSERT_NE(button, nullptr);
    EXPECT_GE(last->max.y - last->min.y, 30) << "cut";
    EXPECT_LT(last->max.y, button->min.y);
    EXPECT_LT(button->max.y, 720);
  }
}

// The explanation of every lesson, also beside the error of a guess: whole lines, at least six, and
// nothing below the status bar.
TEST_P(LearnLanguages, ExplainEveryLessonInWholeLines) {
  const WithLanguage translated(GetParam());
  constexpr float kStatusBar = 40, kMargin = 12;
  Lab lab(with_real_lessons(), 1, {1280, 720});
  lab.view.page = Page::Learn;
  for (const lessons::Lesson& lesson : lessons::all_lessons()) {
    const std::string name = lesson.info.name;
    lab.view.forms.learn.lesson = name;
    for (const char* guess : {"", "soon"}) {
      SCOPED_TRACE(fmt::format("{}, guess '{}'", name, guess));
      const bool typed = lesson.info.question.choices.empty();
      if (typed) lab.view.forms.learn.guesses[name] = guess;
      lab.frames(6);
      EXPECT_FALSE(lab.backend.ui.wants_layout);
      EXPECT_EQ(lab.visible("learn/guess_error"), typed && *guess != 0);
      for (const char* path : {"learn/lesson", "learn/measure"}) {
        EXPECT_LE(lab.backend.find(path)->max.y, 720 - kStatusBar - kMargin) << path;
      }
      if (!lab.visible("learn/words")) continue;  // all lines are shown without scrolling
      const ui::WidgetRect* words = lab.backend.find("learn/words");
      EXPECT_GE(std::stoi(words->value), 6);
      const float line = lab.backend.ui.fonts.body->FontSize;
      const float lines = line * std::stof(words->value);
      const float gaps = (words->max.y - words->min.y - lines) / 8;
      EXPECT_NEAR(gaps, std::round(gaps), 0.2) << "a line is cut";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Languages, LearnLanguages,
                         ::testing::Values(Language::English, Language::Chinese, Language::Japanese,
                                           Language::Vietnamese),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace lab::test
