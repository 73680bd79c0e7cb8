// The Learn page: guesses, commands, results.
#include <gtest/gtest.h>

#include "tests/ui/events.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

struct LearnLab : Lab {
  explicit LearnLab(Scene scene) : Lab(make_scene(Page::Learn, scene), 1, {1280, 1000}) {
    open(Page::Learn);
  }
};

TEST(LearnPage, IsTheFirstPage) {
  EXPECT_EQ(ui::ViewState{}.page, Page::Learn);
}

TEST(LearnPage, SendsTheChosenGuess) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/choice/2");
  lab.click("learn/measure");
  const auto sent = lab.sent<StartLesson>();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].lesson, "first");
  EXPECT_EQ(sent[0].guess, "two");
  EXPECT_FALSE(sent[0].vary.has_value());
}

TEST(LearnPage, MeasuresWithoutAGuess) {
  LearnLab lab(Scene::Empty);
  const ui::WidgetRect* button = lab.backend.find("learn/measure");
  ASSERT_NE(button, nullptr);
  EXPECT_EQ(button->label, "Measure without a guess");
  lab.click("learn/measure");
  ASSERT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_FALSE(lab.sent<StartLesson>()[0].guess.has_value());
}

TEST(LearnPage, DrawsACurveWithTheMouse) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/second");
  lab.click("learn/curve");
  const std::string& guess = lab.view.forms.learn.guesses["second"];
  EXPECT_FALSE(guess.empty());
  const auto values = parse_answer(lab.model.lessons()[1].question, guess).values;
  ASSERT_EQ(values.size(), 3U);
  EXPECT_GT(values[0], 1e-8);
  EXPECT_LT(values[0], 1);
}

TEST(LearnPage, RefusesAnUnreadableGuess) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/second");
  lab.view.forms.learn.guesses["second"] = "soon";
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/guess_error"));
  const ui::WidgetRect* button = lab.backend.find("learn/measure");
  ASSERT_NE(button, nullptr);
  EXPECT_FALSE(button->enabled);
}

TEST(LearnPage, OffersToSplitTheCpu) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/third");
  EXPECT_FALSE(lab.visible("learn/measure"));
  lab.click("learn/split");
  lab.click("restart/yes");
  ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
  EXPECT_EQ(lab.sent<RestartLab>()[0].cpu_devices, 3);
  EXPECT_TRUE(lab.view.forms.learn.resume) << "the lesson continues after the restart";
}

TEST(LearnPage, ContinuesAfterARestart) {
  LearnLab lab(Scene::Empty);
  lab.view.forms.learn.resume = true;
  lab.frames(3);
  EXPECT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_FALSE(lab.view.forms.learn.resume);
}

TEST(LearnPage, ShowsSentenceVerdictAndGap) {
  LearnLab lab(Scene::Done);
  EXPECT_TRUE(lab.visible("learn/sentence_text"));
  const ui::WidgetRect* verdict = lab.backend.find("learn/verdict");
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->label, "wrong");
  EXPECT_TRUE(lab.visible("learn/gap/0"));
  EXPECT_TRUE(lab.visible("learn/plot"));
  EXPECT_TRUE(lab.view.forms.learn.done.contains("first"));
}

TEST(LearnPage, TryItFreelyLeadsToThePageAndBack) {
  LearnLab lab(Scene::Done);
  lab.click("learn/free");
  EXPECT_EQ(lab.view.page, Page::Matmul);
  EXPECT_EQ(lab.view.forms.matmul.sizes, "8,16");
  lab.frames(3);
  lab.click("title/back");
  EXPECT_EQ(lab.view.page, Page::Learn);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("title/back"));
}

TEST(LearnPage, VariesTheSetting) {
  LearnLab lab(Scene::Done);
  lab.view.forms.learn.vary["first"] = 512;
  lab.frames(2);
  lab.click("learn/again");
  ASSERT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_EQ(lab.sent<StartLesson>()[0].vary, 512);
}

TEST(LearnPage, RemembersPlaceAndGuesses) {
  ui::ViewState view;
  view.forms.learn.lesson = "link";
  view.forms.learn.guesses = {{"link", "1e-6, 2e-5, 3e-3"}, {"copies", "an error"}};
  view.forms.learn.done = {"devices", "link"};
  view.forms.learn.resume = true;
  ui::ViewState loaded;
  load_view(loaded, save_view(view));
  EXPECT_EQ(loaded.forms.learn.lesson, "link");
  EXPECT_EQ(loaded.forms.learn.guesses, view.forms.learn.guesses);
  EXPECT_EQ(loaded.forms.learn.done, view.forms.learn.done);
  EXPECT_TRUE(loaded.forms.learn.resume);
}

}  // namespace
}  // namespace lab::test
