// The Learn page: guesses, commands, results.
#include <gtest/gtest.h>

#include "tests/ui/events.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

constexpr float kAllCards = 2600;  // a height that shows them

struct LearnLab : Lab {
  explicit LearnLab(Scene scene, float height = kAllCards)
      : Lab(make_scene(Page::Learn, scene), 1, {1280, height}) {
    open(Page::Learn);
  }
};

// A small window with a lesson whose text does not fit.
struct LongLesson : Lab {
  LongLesson() : Lab(scene(), 1, {1280, 720}) {
    view.forms.learn.lesson = "long";
    open(Page::Learn);
    frames(3);
  }
  static Model scene() {
    Model model = make_scene(Page::Learn, Scene::Empty);
    LessonInfo info = model.lessons().front();
    info.name = "long";
    info.text.assign(30,
                     "A sentence that is long enough to be wrapped in the column of the texts.");
    model.apply(event(0, 0, info));
    return model;
  }
};

TEST(LearnPage, SendsTheChosenGuess) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/choice/2");
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("learn/measure")->value, "primary");
  lab.click("learn/measure");
  const auto sent = lab.sent<StartLesson>();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].lesson, "first");
  EXPECT_EQ(sent[0].guess, "two");
  EXPECT_FALSE(sent[0].vary.has_value());
}

TEST(LearnPage, MarksTheRightAndTheWrongChoice) {
  LearnLab lab(Scene::Done);  // guessed the first, measured the second
  lab.click("learn/choice/1");
  EXPECT_EQ(lab.backend.find("learn/choice/1")->value, "selected, wrong");
  EXPECT_EQ(lab.backend.find("learn/choice/2")->value, "right");
  LearnLab running(Scene::Running);
  EXPECT_EQ(running.backend.find("learn/choice/2")->value, "");
}

TEST(LearnPage, LeadsToTheNextLessonOnceItIsAnswered) {
  LearnLab lab(Scene::Done);
  const auto kind = [&](const char* path) { return lab.backend.find(path)->value; };
  EXPECT_EQ(lab.backend.find("learn/next_lesson")->label, "Next") << "no room for its title";
  EXPECT_EQ(kind("learn/next_lesson"), "primary");
  EXPECT_EQ(kind("learn/measure"), "");
  lab.click("learn/choice/3");  // another guess
  EXPECT_FALSE(lab.visible("learn/next_lesson"));
  EXPECT_EQ(kind("learn/measure"), "primary");
  lab.click("learn/choice/3");
  lab.click("learn/next_lesson");
  EXPECT_EQ(lab.view.forms.learn.lesson, "second");
}

TEST(LearnPage, MeasuresWithoutAGuess) {
  LearnLab lab(Scene::Empty);
  const ui::WidgetRect* button = lab.backend.find("learn/measure");
  ASSERT_NE(button, nullptr);
  EXPECT_EQ(button->label, "Measure without a guess");
  EXPECT_EQ(button->value, "") << "the guess is the first choice";
  lab.click("learn/measure");
  ASSERT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_FALSE(lab.sent<StartLesson>()[0].guess.has_value());
}

// The text is cut; the question and the button stay where they are.
TEST(LearnPage, KeepsTheQuestionOfALongLessonInSight) {
  LongLesson lab;
  const ui::WidgetRect* button = lab.backend.find("learn/measure");
  ASSERT_NE(button, nullptr);
  EXPECT_LT(button->max.y, 720);
  ASSERT_TRUE(lab.visible("learn/choice/2"));
  EXPECT_LT(lab.backend.find("learn/choice/2")->max.y, button->min.y);
  EXPECT_FALSE(lab.backend.ui.wants_layout);
  const float top = button->min.y;
  lab.click("learn/measure");
  EXPECT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_EQ(lab.backend.find("learn/measure")->min.y, top);
}

TEST(LearnPage, TheButtonStaysWhereItIsWhenTheCoresAreBusy) {
  LongLesson lab;
  const float top = lab.backend.find("learn/measure")->min.y;
  for (int second = 0; second < 10; ++second) {
    Telemetry one = telemetry(lab.model.devices(), 1000 + second, 1);
    one.others = OtherLoad{.programs = 2.2, .host = 1.7, .threads = 4};
    lab.model.apply(event(0, 1000 + second, one));
  }
  lab.frames(6);
  const ui::WidgetRect* note = lab.backend.find("learn/busy_cores");
  ASSERT_NE(note, nullptr);
  EXPECT_GT(note->max.y - note->min.y, 20) << "two lines";
  EXPECT_EQ(lab.backend.find("learn/measure")->min.y, top);
}

TEST(LearnPage, ScrollsToTheResultsBelowAFoldedForm) {
  Lab lab(make_scene(Page::Learn, Scene::Empty), 2, {1920, 1080});
  lab.open(Page::Learn);
  lab.click("learn/measure");
  ASSERT_EQ(lab.sent<StartLesson>().size(), 1U);
  lab.model = make_scene(Page::Learn, Scene::Done);
  lab.out.clear();
  lab.frames(8);
  EXPECT_TRUE(lab.visible("learn/sentence_text"));
  lab.scroll(1000);
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/measure")) << "the user may scroll back";
}

TEST(LearnPage, ALessonBeginsAtItsTop) {
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1280, 720});
  lab.open(Page::Learn);
  lab.scroll(-100);
  EXPECT_FALSE(lab.visible("learn/sentence_text")) << "scrolled away";
  lab.click("learn/next");
  lab.frames(3);
  ASSERT_TRUE(lab.visible("learn/steps"));
  EXPECT_LT(lab.backend.find("learn/steps")->min.y, 120);
}

TEST(LearnPage, NeverScrollsBeyondItsResults) {
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1280, 720});
  lab.open(Page::Learn);
  lab.scroll(-100);
  lab.view.forms.learn.lesson = "second";  // shorter
  lab.frames(6);
  ASSERT_TRUE(lab.visible("learn/steps"));
  EXPECT_GT(lab.backend.find("learn/steps")->max.y, 100);
}

TEST(LearnPage, AGapOfUnsteadyTimesHasNeitherRatioNorCause) {
  LearnLab lab(Scene::Empty);
  lab.model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  LessonPrediction prediction;
  prediction.series = "step";
  lab.model.apply(event(1, 2, LessonEvent{"first", prediction}));
  const LessonGap gap{"step", "s", 1e-3, 4e-3, {{"caches", 2e-3}, {"unexplained", 1e-3}}};
  lab.model.apply(event(1, 3, LessonEvent{"first", gap}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("learn/gap/0/text")->label,
            "step, 4 times the prediction; largest cause: caches");
  LessonDone done{"The step took 4.00 ms.", {}, LessonAnswer{{1}}};
  done.why_open = "The machine was too busy to conclude from the figures.";
  lab.model.apply(event(1, 4, LessonEvent{"first", done}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("learn/gap/0/text")->label, "step");
  EXPECT_FALSE(lab.visible("learn/gap/0"));
}

TEST(LearnPage, SaysBusyCoresOnlyWhereItCanMeasure) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  for (int second = 0; second < 10; ++second) {
    Telemetry one = telemetry(model.devices(), 1000 + second, 1);
    one.others = OtherLoad{.programs = 3.9, .host = 0, .threads = 4};
    model.apply(event(0, 1000 + second, one));
  }
  Lab lab(std::move(model), 1, {1280, 1600});
  const auto said = [&](const char* lesson) {
    lab.view.forms.learn.lesson = lesson;
    lab.open(Page::Learn);
    return lab.visible("learn/busy_cores");
  };
  EXPECT_TRUE(said("first"));
  EXPECT_FALSE(said("third")) << "it needs more devices";
}

TEST(LearnPage, AGapWithoutCausesHasNoBar) {
  LearnLab lab(Scene::Empty);
  lab.model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  LessonPrediction prediction;
  prediction.series = "bytes";
  lab.model.apply(event(1, 2, LessonEvent{"first", prediction}));
  lab.model.apply(
      event(1, 3, LessonEvent{"first", LessonGap{"bytes", "B", 64, 64, {{"unexplained", 0}}}}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("learn/gap/0/text")->label, "bytes, as predicted within 1 %");
  EXPECT_FALSE(lab.visible("learn/gap/0"));
}

TEST(LearnPage, MeasuresOnEnterOnceThereIsAGuess) {
  LearnLab lab(Scene::Empty);
  lab.press(GLFW_KEY_ENTER);
  EXPECT_TRUE(lab.sent<StartLesson>().empty()) << "no guess yet";
  lab.click("learn/choice/2");
  lab.press(GLFW_KEY_ENTER);
  ASSERT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_EQ(lab.sent<StartLesson>()[0].guess, "two");
}

TEST(LearnPage, MeasuresOnEnterInTheGuess) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/second");
  lab.click("learn/guess");
  lab.type("1e-6, 1e-5, 1e-3");
  lab.press(GLFW_KEY_ENTER);
  ASSERT_EQ(lab.sent<StartLesson>().size(), 1U);
  EXPECT_EQ(lab.sent<StartLesson>()[0].guess, "1e-6, 1e-5, 1e-3");
}

TEST(LearnPage, SaysThatCausesCancel) {
  LearnLab lab(Scene::Empty);
  lab.model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  LessonPrediction prediction;
  prediction.series = "step";
  lab.model.apply(event(1, 2, LessonEvent{"first", prediction}));
  LessonGap gap{"step", "s", 1e-3, 2e-3, {{"unexplained", 1e-3}}};
  gap.note = "The causes could not be separated.";
  lab.model.apply(event(1, 3, LessonEvent{"first", gap}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/gap/0/note"));
  EXPECT_FALSE(lab.visible("learn/gap/0")) << "no bar of one unexplained part";
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

TEST(LearnPage, WritesADrawnCurveWithoutItsLongUnit) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  LessonInfo speeds = model.lessons()[1];
  speeds.name = "speeds";
  speeds.question.unit = "FLOP/s";
  speeds.question.low = 1e9;
  speeds.question.high = 1e12;
  model.apply(event(0, 0, speeds));
  Lab lab(std::move(model), 1, {1280, 1600});
  lab.view.forms.learn.lesson = "speeds";
  lab.open(Page::Learn);
  lab.click("learn/curve");
  const std::string& guess = lab.view.forms.learn.guesses["speeds"];
  EXPECT_EQ(guess.find("FLOP/s"), std::string::npos) << guess;
  const auto values = parse_answer(speeds.question, guess).values;
  EXPECT_GT(values[1], 1e9);
  EXPECT_LT(values[1], 1e12);
}

TEST(LearnPage, RefusesAnUnreadableGuess) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/second");
  lab.view.forms.learn.guesses["second"] = "soon";
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("learn/guess_error")->label,
            "Write 3 numbers separated by commas, for example 20 ms, 20 ms, 20 ms.");
  const ui::WidgetRect* button = lab.backend.find("learn/measure");
  ASSERT_NE(button, nullptr);
  EXPECT_FALSE(button->enabled);
}

TEST(LearnPage, ShowsAFailureWithItsLessonOnly) {
  LearnLab lab(Scene::Failed);
  EXPECT_TRUE(lab.visible("learn/error"));
  lab.click("learn/dot/second");
  lab.frames(3);
  EXPECT_FALSE(lab.visible("learn/error"));
  lab.click("learn/dot/first");
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/error"));
}

TEST(LearnPage, OffersToSplitTheCpu) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/third");
  EXPECT_FALSE(lab.visible("learn/measure"));
  EXPECT_LT(lab.backend.find("learn/split")->max.y, lab.backend.find("learn/choice/1")->min.y);
  lab.click("learn/split");
  lab.click("restart/yes");
  ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
  EXPECT_EQ(lab.sent<RestartLab>()[0].cpu_devices, 3);
  EXPECT_TRUE(lab.view.forms.learn.resume) << "the lesson continues after the restart";
  EXPECT_EQ(lab.view.forms.devices.cpu_devices, 3);
}

// A lesson that compares a small device with a larger one, where every device has a single core.
TEST(LearnPage, OffersToJoinTheCores) {
  MachineInfo machine = machine_of(2);
  for (DeviceInfo& device : machine.devices) device.threads = 1;
  LessonInfo unequal = make_scene(Page::Learn, Scene::Empty).lessons().front();
  unequal.larger_device = true;
  Model model(machine);
  model.apply(event(0, 0, unequal));
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Learn);
  EXPECT_FALSE(lab.visible("learn/measure"));
  lab.click("learn/split");
  lab.frames(3);
  EXPECT_TRUE(lab.sent<StartLesson>().empty()) << "not before the restart";
  lab.click("restart/yes");
  ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
  EXPECT_EQ(lab.sent<RestartLab>()[0].cpu_devices, 1);
  machine.devices.resize(1);
  machine.devices[0].threads = 2;
  Model joined(machine);
  joined.apply(event(0, 0, unequal));
  lab.show(std::move(joined));
  EXPECT_EQ(lab.sent<StartLesson>().size(), 1U) << "continues by itself";
}

TEST(LearnPage, ForgetsToContinueWithoutARestart) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/third");
  lab.click("learn/split");
  EXPECT_EQ(lab.backend.find("restart/yes")->label, "Split and restart");
  lab.click("restart/no");
  EXPECT_FALSE(lab.view.forms.learn.resume);
  EXPECT_EQ(lab.view.forms.devices.cpu_devices, 1);
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
  EXPECT_EQ(verdict->label.find("The answer is"), 0U) << verdict->label;
  EXPECT_TRUE(lab.visible("learn/gap/0"));
  EXPECT_TRUE(lab.visible("learn/plot"));
  EXPECT_TRUE(lab.view.forms.learn.done.contains("first"));
}

// The verdict on a number says how the guess compares; without a guess the sentence stands out.
TEST(LearnPage, TheVerdictComesFirstOnAWideStrip) {
  LearnLab lab(Scene::Done);
  const auto width = [&](const char* path) {
    const ui::WidgetRect* shown = lab.backend.find(path);
    return shown->max.x - shown->min.x;
  };
  EXPECT_GT(width("learn/verdict"), width("learn/sentence") - 40);
  lab.model.apply(
      event(2, 1000, JobStarted{"Lesson second", StartLesson{"second", "1 us", {}, {}}}));
  lab.model.apply(event(2, 1001, LessonEvent{"second", LessonGuess{"", "", {{1e-6, 1e-6, 1e-6}}}}));
  lab.model.apply(event(
      2, 1002,
      LessonEvent{"second", LessonDone{"It took 2 us.", {}, LessonAnswer{{2e-6, 2e-6, 1e-6}}}}));
  lab.model.apply(event(2, 1003, JobFinished{}));
  lab.view.forms.learn.lesson = "second";
  lab.frames(4);
  EXPECT_EQ(lab.backend.find("learn/verdict")->label,
            "Your guess is too low at 1.00 KiB and 1.00 MiB, right at 64.0 MiB");
  EXPECT_EQ(lab.backend.find("learn/table/guess")->value, "1.00 µs; 1.00 µs; 1.00 µs");
  EXPECT_EQ(lab.backend.find("learn/table/answer")->value, "2.00 µs; 2.00 µs; 1.00 µs");
  EXPECT_GT(width("learn/verdict"), width("learn/sentence") - 40);
  EXPECT_LT(lab.backend.find("learn/verdict")->max.y,
            lab.backend.find("learn/sentence_text")->min.y);
}

TEST(LearnPage, ListsAllLessonsWithTheFigureThatEachGave) {
  LearnLab lab(Scene::Done, 2600);
  EXPECT_EQ(lab.backend.find("learn/list/first")->value, "two");
  EXPECT_EQ(lab.backend.find("learn/list/second")->value, "");
  lab.click("learn/list/second");
  EXPECT_EQ(lab.view.forms.learn.lesson, "second");
  LessonDone rough{"It took 2 us.", {}, LessonAnswer{{2e-6, 2e-6, 1e-6}}};
  rough.why_open = "The machine was busy.";
  lab.model.apply(event(2, 1000, JobStarted{"Lesson second", StartLesson{"second", {}, {}, {}}}));
  lab.model.apply(event(2, 1002, LessonEvent{"second", rough}));
  lab.model.apply(event(2, 1003, JobFinished{}));
  lab.frames(4);
  EXPECT_EQ(lab.backend.find("learn/list/second")->value, "1.00 µs to 2.00 µs, rough");
}

TEST(LearnPage, ALongTextIsCutUntilItIsAskedFor) {
  LongLesson lab;
  const auto card = [&] {
    const ui::WidgetRect* shown = lab.backend.find("learn/lesson");
    return shown->max.y - shown->min.y;
  };
  const float before = card();
  lab.click("learn/read_on");
  lab.frames(4);
  EXPECT_GT(card(), before) << "it goes on below the window's end: the page scrolls, not the text";
  EXPECT_FALSE(lab.visible("learn/words"));
  lab.view.forms.learn.read_on.clear();
  lab.frames(4);
  EXPECT_EQ(card(), before);
}

TEST(LearnPage, ExplainsTheGapBeforeItsFigures) {
  LearnLab lab(Scene::Done);
  const ui::WidgetRect* text = lab.backend.find("learn/gap/0/text");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->label, "copy, 2 times the prediction; largest cause: waiting");
  EXPECT_LT(text->max.y, lab.backend.find("learn/gap/0")->min.y);
  EXPECT_LT(lab.backend.find("learn/verdict")->max.y,
            lab.backend.find("learn/sentence_text")->min.y);
}

TEST(LearnPage, PutsTheFiguresBetweenTheSentenceAndTheNotes) {
  LearnLab lab(Scene::Done);
  const auto rect = [&](const char* path) { return *lab.backend.find(path); };
  EXPECT_LT(rect("learn/sentence").max.y, rect("learn/measured").min.y);
  EXPECT_LT(rect("learn/measured").max.y, rect("learn/notes").min.y);
  ASSERT_TRUE(lab.visible("learn/why"));
  EXPECT_GT(rect("learn/why").min.y, rect("learn/notes").min.y);
}

TEST(LearnPage, KeepsTheOrderOfItsCards) {
  for (const Scene scene : {Scene::Empty, Scene::Running, Scene::Done}) {
    LearnLab lab(scene);
    float end = 0;
    for (const char* card :
         {"sentence", "player", "predicted", "gap", "steps", "measured", "notes"}) {
      const std::string path = std::string("learn/") + card;
      if (!lab.visible(path)) continue;
      EXPECT_GE(lab.backend.find(path)->min.y, end) << card;
      end = lab.backend.find(path)->max.y;
    }
    const char* const machine = scene == Scene::Empty ? "learn/machine" : "learn/map";
    EXPECT_EQ(lab.backend.find(machine)->min.y, lab.backend.find("learn/steps")->min.y);
  }
}

TEST(LearnPage, PutsTheStepsBesideTheFiguresInAWideWindow) {
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1920, 1600});
  lab.open(Page::Learn);
  const ui::WidgetRect *steps = lab.backend.find("learn/steps"),
                       *measured = lab.backend.find("learn/measured");
  ASSERT_NE(steps, nullptr);
  ASSERT_NE(measured, nullptr);
  EXPECT_EQ(steps->min.y, measured->min.y);
  EXPECT_GT(steps->min.x, measured->max.x);
  const float height = measured->max.y - measured->min.y;
  lab.frames(6);
  measured = lab.backend.find("learn/measured");
  EXPECT_EQ(measured->max.y - measured->min.y, height);
  EXPECT_FALSE(lab.backend.ui.wants_layout);
}

TEST(LearnPage, NamesTheChapter) {
  Lab lab(make_scene(Page::Learn, Scene::Empty));
  lab.open(Page::Learn);
  EXPECT_EQ(lab.backend.find("learn/chapter")->label, "Chapter: GPUs");
  Lab folded(make_scene(Page::Learn, Scene::Empty), 1.5F, {1280, 720});
  folded.open(Page::Learn);
  EXPECT_EQ(folded.backend.find("learn/chapter")->label, "Chapter: GPUs, lesson 1 of 3");
}

TEST(LearnPage, ShowsTheAnswerWhereTheGuessIsNotJudged) {
  Model model = make_scene(Page::Learn, Scene::Done);
  LessonDone done{"The copy took 2.00 ms.", {}, LessonAnswer{{1}}};
  done.why_open = "The machine was too busy to conclude from the figures.";
  model.apply(event(1, 1000, LessonEvent{"first", done}));
  Lab lab(std::move(model), 1, {1280, kAllCards});
  lab.open(Page::Learn);
  EXPECT_FALSE(lab.visible("learn/verdict"));
  ASSERT_TRUE(lab.visible("learn/open"));
  EXPECT_LT(lab.backend.find("learn/open")->max.y, lab.backend.find("learn/sentence_text")->min.y);
  EXPECT_TRUE(lab.visible("learn/why"));
  const ui::WidgetRect* answer = lab.backend.find("learn/unjudged");
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->label, "The answer: two");
}

// What the Log says of a run is also shown with its result, after another lesson ran as well.
TEST(LearnPage, ShowsTheWarningsOfItsRun) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  LessonDone done{"The copy took 2.00 ms.", {}, LessonAnswer{{1}}};
  done.explanation = "The latency was most of it.";
  done.warnings = {"1.62x is below 1.8x."};
  LessonSample copy{"copy", {}, "", 2e-3, "s", "", timing(2e-3)};
  copy.time.unstable = true;
  model.apply(event(1, 2, LessonEvent{"first", copy}));
  model.apply(event(1, 3, LessonEvent{"first", done}));
  model.apply(event(1, 4, CoresShared{0.12}));
  model.apply(event(1, 5, JobFinished{}));
  model.apply(event(2, 6, JobStarted{"Lesson second", StartLesson{"second", {}, {}, {}}}));
  model.apply(event(2, 7, JobFinished{}));
  Lab lab(std::move(model), 1, {1280, kAllCards});
  lab.view.forms.learn.lesson = "first";
  lab.view.forms.learn.details_open = true;
  lab.open(Page::Learn);
  const auto label = [&](const char* path) {
    const ui::WidgetRect* shown = lab.backend.find(path);
    return shown == nullptr ? std::string("not shown") : shown->label;
  };
  EXPECT_EQ(label("learn/warning/0"), "1.62x is below 1.8x.");
  EXPECT_NE(label("learn/others").find("took 12 %"), std::string::npos);
  EXPECT_EQ(label("learn/explanation"), "The latency was most of it.");
  const ui::WidgetRect* sample = lab.backend.find("learn/sample/0");
  ASSERT_NE(sample, nullptr);
  EXPECT_TRUE(sample->value.ends_with(" %)")) << sample->value;
  EXPECT_TRUE(lab.visible("learn/sample/0/disturbed"));
}

TEST(LearnPage, MarksThePositionThatTheSentenceNames) {
  LearnLab lab(Scene::Done);
  EXPECT_FALSE(lab.visible("learn/plot/mark/0"));
  LessonDone done{"The copy wins at 64 KiB.", {}, LessonAnswer{{1}}};
  done.marks = {{"wins from here", 65536, "B"}};
  lab.model.apply(event(1, 1000, LessonEvent{"first", done}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/plot/mark/0"));
}

TEST(LearnPage, AsksForTheSettingThatIsMeasured) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  LessonInfo info = model.lessons().front();
  info.name = "sized";
  info.question = {.text = "N is {}. How many bytes?", .unit = "B", .low = 1, .high = 1e9};
  model.apply(event(0, 0, info));
  Lab lab(std::move(model), 1, {1280, 800});
  lab.view.forms.learn.lesson = "sized";
  lab.open(Page::Learn);
  EXPECT_EQ(lab.backend.find("learn/question")->label, "N is 256. How many bytes?");
  EXPECT_EQ(lab.backend.find("learn/guess")->label, "Your guess, in bytes");
  lab.view.forms.learn.vary["sized"] = 512;
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("learn/question")->label, "N is 512. How many bytes?");
}

TEST(LearnPage, ListsTheStatementsThatHold) {
  LearnLab lab(Scene::Done);
  EXPECT_FALSE(lab.visible("learn/checks"));
  lab.click("learn/details");
  lab.frames(3);
  const ui::WidgetRect* checks = lab.backend.find("learn/checks");
  ASSERT_NE(checks, nullptr);
  EXPECT_EQ(checks->label, "Also verified in this run: the copy is exact; nothing is left.");
}

TEST(LearnPage, GivesTheReasonForAWrongGuess) {
  LearnLab lab(Scene::Done);
  const ui::WidgetRect* why = lab.backend.find("learn/why");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->label, "What decides it.");
}

TEST(LearnPage, SettlesInATallWindow) {
  Lab lab(make_scene(Page::Learn, Scene::Done), 1, {1280, 2600});
  lab.open(Page::Learn);
  const auto height = [&](const char* path) {
    const ui::WidgetRect* shown = lab.backend.find(path);
    return shown == nullptr ? 0 : shown->max.y - shown->min.y;
  };
  lab.frames(6);
  const float plot = height("learn/plot"), card = height("learn/measured");
  EXPECT_GT(plot, 300) << "takes the unused height";
  for (int i = 0; i < 6; ++i) {
    lab.frame();
    EXPECT_EQ(height("learn/plot"), plot) << i;
    EXPECT_EQ(height("learn/measured"), card) << i;
    EXPECT_FALSE(lab.backend.ui.wants_layout) << i;
  }
}

TEST(LearnPage, DrawsSeriesOfOtherUnitsInASecondPlot) {
  LearnLab lab(Scene::Done);
  EXPECT_FALSE(lab.visible("learn/plot2"));
  for (const double n : {1.0, 2.0, 4.0}) {
    LessonPrediction efficiency;
    efficiency.series = "efficiency";
    efficiency.x = n;
    efficiency.value = 100 / n;
    efficiency.unit = "%";
    lab.model.apply(event(1, 0, LessonEvent{"first", efficiency}));
  }
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/plot"));
  EXPECT_TRUE(lab.visible("learn/plot2"));
}

TEST(LearnPage, ShowsAStripPerRepeatedMeasurement) {
  LearnLab lab(Scene::Done);
  EXPECT_TRUE(lab.visible("learn/strips"));
  const ui::WidgetRect* many = lab.backend.find("learn/strips/1");
  ASSERT_NE(many, nullptr);
  EXPECT_EQ(many->label, "copy, 100 runs");
  EXPECT_EQ(many->value, "1.50x ± 0.03");
}

TEST(LearnPage, TryItFreelyLeadsToThePageAndBack) {
  LearnLab lab(Scene::Done);
  lab.click("learn/free");
  EXPECT_EQ(lab.view.page, Page::Matmul);
  EXPECT_EQ(lab.view.forms.matmul.sizes, "256") << "the lesson's default setting";
  lab.frames(3);
  lab.click("title/back");
  EXPECT_EQ(lab.view.page, Page::Learn);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("title/back"));
}

TEST(LearnPage, TryItFreelyTakesTheVariedSetting) {
  LearnLab lab(Scene::Done);
  lab.view.forms.learn.vary["first"] = 512;
  lab.click("learn/free");
  EXPECT_EQ(lab.view.forms.matmul.sizes, "512");
}

TEST(LearnPage, VariesTheSetting) {
  LearnLab lab(Scene::Done);
  lab.view.forms.learn.vary["first"] = 512;
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("learn/measure")->label, "Measure again");
  lab.click("learn/measure");
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

TEST(LearnPage, ChoosesTheLanguageOfTheCodeByTab) {
  LearnLab lab(Scene::Empty);
  EXPECT_EQ(lab.backend.find("learn/code/0")->label, "torch.mm(A, B)");
  lab.click("learn/language/JAX");
  EXPECT_EQ(lab.backend.find("learn/code/0")->label, "jnp.matmul(A, B)");
  EXPECT_EQ(lab.backend.find("learn/language/JAX")->value, "chosen");
  EXPECT_EQ(lab.view.forms.learn.language, 3);
  lab.click("learn/language/TensorFlow");
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("learn/code/0")->label, "Not available in TensorFlow");
}

TEST(LearnPage, FitsTheLanguagesAtEveryScale) {
  for (const float scale : {1.0F, 1.5F, 2.0F}) {
    SCOPED_TRACE(scale);
    Lab lab(make_scene(Page::Learn, Scene::Empty), scale, {1280 * scale, 1000 * scale});
    lab.open(Page::Learn);
    float right = 0;
    for (const char* language : kLessonLanguages) {
      const ui::WidgetRect* tab = lab.backend.find(std::string("learn/language/") + language);
      ASSERT_NE(tab, nullptr) << language;
      EXPECT_GE(tab->min.x, right) << language;
      EXPECT_GE(tab->max.x - tab->min.x, 28 * scale) << language;
      right = tab->max.x;
    }
    EXPECT_LE(right, lab.backend.find("learn/code/0")->max.x + 1);
  }
}

TEST(LearnPage, SetsACurveWithTheArrowKeys) {
  LearnLab lab(Scene::Empty);
  lab.click("learn/dot/second");
  lab.click("learn/curve");
  const auto values = [&] {
    return parse_answer(lab.model.lessons()[1].question, lab.view.forms.learn.guesses["second"])
        .values;
  };
  const std::vector<double> before = values();
  lab.view.forms.learn.curve_column = 1;
  lab.press(GLFW_KEY_UP);
  EXPECT_GT(values()[1], before[1]);
  EXPECT_EQ(values()[2], before[2]);
  lab.press(GLFW_KEY_RIGHT);
  EXPECT_EQ(lab.view.forms.learn.curve_column, 2);
  lab.press(GLFW_KEY_DOWN);
  EXPECT_LT(values()[2], before[2]);
  EXPECT_TRUE(lab.visible("learn/curve_value"));
}

TEST(LearnPage, StepsThroughASequence) {
  LearnLab lab(Scene::Done);
  const auto stage = [&] { return lab.backend.find("learn/scrub")->value; };
  const auto row = [&] { return lab.backend.find("learn/row/1")->value; };
  EXPECT_EQ(stage(), "1/3");
  lab.press(GLFW_KEY_SPACE);
  EXPECT_EQ(stage(), "2/3");
  EXPECT_EQ(row(), "21, 21.25000, 21.50000");
  lab.click("learn/step");
  EXPECT_EQ(stage(), "3/3");
  lab.press(GLFW_KEY_SPACE);
  EXPECT_EQ(stage(), "3/3") << "the last stage";
  lab.press(GLFW_KEY_LEFT);
  EXPECT_EQ(stage(), "2/3") << "the step button has the keys";
  lab.click("learn/scrub");
  EXPECT_EQ(stage(), "2/3") << "the middle of the bar";
  lab.click("learn/back");
  EXPECT_EQ(stage(), "1/3");
}

TEST(LearnPage, ChoosesSequenceAndParameter) {
  LearnLab lab(Scene::Done);
  EXPECT_EQ(lab.backend.find("learn/parameter")->value, "net.1.weight");
  lab.click("learn/parameter/net.1.bias");
  EXPECT_TRUE(lab.visible("learn/row/2"));
  EXPECT_FALSE(lab.visible("learn/row/3")) << "the row of the other parameter";
  lab.click("learn/sequence/star");
  EXPECT_EQ(lab.backend.find("learn/scrub")->value, "1/1");
  const ui::WidgetRect* title = lab.backend.find("learn/stage_title");
  ASSERT_NE(title, nullptr);
  EXPECT_EQ(title->label, "1. The stage of the star called 0");
}

TEST(LearnPage, WritesTheSpreadOfTimesAsItsPercentiles) {
  LearnLab lab(Scene::Empty);
  lab.model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  LessonSample sample;
  sample.series = "copy";
  sample.value = 1e-3;
  sample.unit = "s";
  sample.time.n = 9;
  sample.time.median_s = 1e-3;
  sample.time.p10_s = 0.9e-3;
  sample.time.p90_s = 1.2e-3;
  lab.model.apply(event(1, 2, LessonEvent{"first", sample}));
  lab.frames(3);
  lab.backend.move_to(NullBackend::centre(*lab.backend.find("learn/sample/0")));
  lab.frames(40);
  const ui::WidgetRect* tooltip = lab.backend.find("tooltip");
  ASSERT_NE(tooltip, nullptr);
  EXPECT_NE(tooltip->value.find("p90 - p10: 30"), std::string::npos) << tooltip->value;
}

TEST(LearnPage, OffersNoParameterInAStageWithoutOne) {
  LearnLab lab(Scene::Empty);
  lab.model.apply(event(1, 1, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  for (const char* group : {"net.1.weight", ""}) {
    LessonFrame frame{.sequence = "ring", .step = *group == 0 ? 1 : 0};
    frame.title = "A stage";
    frame.rows.push_back({.name = "g0", .values = {0.125}, .group = group});
    lab.model.apply(event(1, 2, LessonEvent{"first", frame}));
  }
  lab.model.apply(event(1, 3, JobFinished{}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("learn/parameter"));
  const float row = lab.backend.find("learn/row/0")->min.y;
  lab.click("learn/step");
  EXPECT_FALSE(lab.visible("learn/parameter"));
  EXPECT_EQ(lab.backend.find("learn/row/0")->min.y, row) << "nothing jumps";
}

TEST(LearnPage, ComparesWithAClass) {
  LearnLab lab(Scene::Empty);
  EXPECT_FALSE(lab.visible("learn/class")) << "there are no results of others";
  lab.view.forms.learn.class_open = true;
  lab.frames(3);
  EXPECT_FALSE(lab.backend.find("learn/class_read")->enabled);
  lab.view.forms.learn.class_folder = "results";
  lab.frames(3);
  lab.click("learn/class_read");
  ASSERT_EQ(lab.sent<CompareClass>().size(), 1U);
  EXPECT_EQ(lab.sent<CompareClass>()[0].lesson, "first");
  EXPECT_EQ(lab.sent<CompareClass>()[0].files, std::vector<std::string>{"results"});
}

TEST(LearnPage, KeepsTheClassWhenTheLessonRunsAgain) {
  Model model = make_scene(Page::Learn, Scene::Empty);
  model.apply(event(1, 1, JobStarted{"The class", CompareClass{"first", {"results"}}}));
  LessonClass all;
  all.people = {{"a.json", LessonAnswer{{1}}, LessonAnswer{{0}}}};
  all.bins = class_histogram(model.lessons()[0].question, all.people);
  model.apply(event(1, 2, LessonEvent{"first", all}));
  model.apply(event(1, 3, JobFinished{}));
  model.apply(event(2, 4, JobStarted{"Lesson first", StartLesson{"first", {}, {}, {}}}));
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Learn);
  EXPECT_EQ(lab.backend.find("learn/class_bin/1")->label, "two");
  EXPECT_EQ(lab.backend.find("learn/class_bin/1")->value, "1 0");
}

}  // namespace
}  // namespace lab::test
