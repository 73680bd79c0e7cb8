// Results on the Learn page: verdicts in words, gaps of what is modelled, and where cards are.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;
using ui::WidgetRect;

// After a lesson whose answer, a number of bytes, is 6 MiB.
Model guessed(double guess_bytes) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  LessonInfo info = model.lessons().front();
  info.name = "bytes";
  info.question = {.text = "How many bytes?", .unit = "B", .low = 1, .high = 1e9};
  model.apply(event(0, 0, info));
  const LessonAnswer guess{{guess_bytes}}, answer{{6.0 * 1024 * 1024}};
  model.apply(event(1, 1, JobStarted{"Lesson bytes", StartLesson{"bytes", "4 MiB", {}, {}}}));
  model.apply(event(1, 2, LessonEvent{"bytes", LessonGuess{"", "4.00 MiB", guess}}));
  model.apply(event(1, 3, LessonEvent{"bytes", LessonDone{"It sent 6 MiB.", {}, answer}}));
  model.apply(event(1, 4, JobFinished{}));
  return model;
}

TEST(LearnResults, AVerdictNamesTheAnswerAndTheGuess) {
  const auto said = [](double mib) {
    Lab lab(guessed(mib * 1024 * 1024));
    lab.view.forms.learn.lesson = "bytes";
    lab.open(Page::Learn);
    return lab.backend.find("learn/verdict")->label;
  };
  EXPECT_EQ(said(4), "The answer is 6.00 MiB; you guessed 4.00 MiB");
  EXPECT_EQ(said(0), "The answer is 6.00 MiB; you guessed 0 B");
  EXPECT_EQ(said(6.2), "Right within a tenth: 6.00 MiB; you guessed 6.20 MiB");
  EXPECT_EQ(said(6), "Right: 6.00 MiB");
}

TEST(LearnResults, AModelledTimeIsNotCalledMeasured) {
  Lab lab(make_scene(Page::Learn, Scene::Empty), 1, {1280, 2600});
  lab.model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  LessonPrediction prediction;
  prediction.series = "ring";
  lab.model.apply(event(1, 2, LessonEvent{"first", prediction}));
  LessonGap gap{"ring", "s", 970e-6, 966e-6, {{"unexplained", -4e-6}}};
  gap.unsteady = gap.modelled = true;
  lab.model.apply(event(1, 3, LessonEvent{"first", gap}));
  lab.open(Page::Learn);
  EXPECT_EQ(lab.backend.find("learn/gap/0/values")->label, "970 µs predicted, 966 µs modelled");
  EXPECT_EQ(lab.backend.find("learn/gap/0/text")->label, "ring, as predicted within 1 %");
  EXPECT_FALSE(lab.visible("learn/gap/0/note")) << "no cause is missed";
}

// The sequence comes before the other figures, and its key never steps what is out of sight.
TEST(LearnResults, SpaceBringsTheSequenceIntoSight) {
  Lab tall(make_scene(Page::Learn, Scene::Done), 1, {1280, 2600});
  tall.open(Page::Learn);
  EXPECT_LT(tall.backend.find("learn/player")->max.y, tall.backend.find("learn/measured")->min.y);
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1280, 720});
  lab.open(Page::Learn);
  lab.scroll(-100);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("learn/step"));
  lab.press(GLFW_KEY_SPACE);
  lab.frames(4);
  ASSERT_TRUE(lab.visible("learn/scrub"));
  const std::string before = lab.backend.find("learn/scrub")->value;
  lab.press(GLFW_KEY_SPACE);
  EXPECT_NE(lab.backend.find("learn/scrub")->value, before);
}

TEST(LearnResults, ListsTheLessonsBelowTheTextsWhereThereIsRoom) {
  const auto list = [](float height, Scene scene) {
    Lab lab(make_scene(Page::Learn, scene), 1, {1280, height});
    lab.open(Page::Learn);
    lab.frames(6);
    EXPECT_FALSE(lab.backend.ui.wants_layout);
    return *lab.backend.find("learn/list");
  };
  for (const Scene scene : {Scene::Empty, Scene::Running, Scene::Done}) {
    SCOPED_TRACE(static_cast<int>(scene));
    EXPECT_LT(list(1080, scene).min.x, 500) << "in the left card, also while it runs";
  }
}

TEST(LearnResults, StopsWhereItStarts) {
  Lab lab(make_scene(Page::Learn, Scene::Running), 1, {1280, 720});
  lab.open(Page::Learn);
  EXPECT_FALSE(lab.visible("learn/measure"));
  lab.click("learn/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1U);
}

TEST(LearnResults, ADrawnGuessHasRoom) {
  Lab lab(make_scene(Page::Learn, Scene::Empty), 1, {1280, 720});
  lab.open(Page::Learn);
  lab.click("learn/dot/second");
  lab.frames(4);
  const WidgetRect* curve = lab.backend.find("learn/curve");
  ASSERT_NE(curve, nullptr);
  EXPECT_GE(curve->max.y - curve->min.y, 100);
}

// A number that the line has no room for is not cut.
TEST(LearnResults, TheListShortensARange) {
  Model model = make_scene(Page::Learn, Scene::Done);
  model.apply(event(2, 10, JobStarted{"Lesson second", StartLesson{"second", {}, {}, {}}}));
  model.apply(event(
      2, 11,
      LessonEvent{"second", LessonDone{"It took 2 us.", {}, LessonAnswer{{1e-6, 2e-6, 3e-3}}}}));
  model.apply(event(2, 12, JobFinished{}));
  for (const float width : {1100.0F, 1280.0F, 1920.0F}) {
    Lab lab(model, 1, {width, 2000});
    lab.open(Page::Learn);
    const WidgetRect* figure = lab.backend.find("learn/list/second/figure");
    if (figure == nullptr) continue;
    EXPECT_TRUE(figure->label == "1.00 µs to 3.00 ms" || figure->label == "up to 3.00 ms")
        << figure->label;
  }
}

TEST(LearnResults, ThePlotMarksTheSizesAskedFor) {
  Model model = make_scene(Page::Learn, Scene::Done);
  Lab lab(std::move(model), 1, {1280, 1600});
  lab.view.forms.learn.lesson = "second";
  lab.model.apply(event(2, 10, JobStarted{"Lesson second", StartLesson{"second", {}, {}, {}}}));
  for (const double bytes : {1024.0, 65536.0, 67108864.0}) {
    LessonSample copy{"copy", bytes, "B", 1e-9 * bytes, "s", "", timing(1e-9 * bytes)};
    lab.model.apply(event(2, 11, LessonEvent{"second", copy}));
  }
  lab.open(Page::Learn);
  lab.frames(3);
  ASSERT_TRUE(lab.visible("learn/plot/mark/0"));
  EXPECT_EQ(lab.backend.find("learn/plot/mark/0")->label, "1.00 KiB");
}

}  // namespace
}  // namespace lab::test
