// What the figures of a tour say together: the headline, and changes since the tour before.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

const ImVec2 kTallTour(1280, 2400);

TEST(TourPage, SumsTheMachineUpFromSteadyPeaksOnly) {
  ui::Model model(machine_of(2));
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  TourFigure first = tour_figure(cpu(), TourQuestion::Peak);
  TourFigure second = tour_figure(cpu(1), TourQuestion::Peak);
  TourFigure memory = tour_figure(cpu(), TourQuestion::Bandwidth);
  memory.value = memory.median = first.value / 4;
  for (const TourFigure& figure : {first, second, memory}) model.apply(event(1, 301, figure));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model), 1, kTallTour);
  lab.open(Page::Tour);
  const auto said = [&] { return lab.backend.find("tour/headline")->label; };
  EXPECT_EQ(
      said(),
      "2 devices reach up to 187 GFLOP/s each, at most 700 products of 512 x 512 matrices per "
      "second. Work of less than "
      "4.00 FLOP per byte waits for memory.");
  lab.model.apply(event(2, 304, JobStarted{"tour", StartTour{}}));
  for (const TourFigure& figure : {first, second, memory}) lab.model.apply(event(2, 305, figure));
  lab.model.apply(event(2, 306, CoresShared{0.3}));
  lab.model.apply(event(2, 306, JobFinished{Outcome::Done, 18, ""}));
  lab.frames(4);
  EXPECT_EQ(
      said(),
      "2 devices reach up to 187 GFLOP/s each, at most 700 products of 512 x 512 matrices per "
      "second.")
      << "no limit is concluded from a disturbed run";
  EXPECT_TRUE(lab.visible("tour/others"));
  second.value = second.median = first.value / 2;
  lab.model.apply(event(2, 304, JobStarted{"tour", StartTour{}}));
  for (const TourFigure& figure : {first, second}) lab.model.apply(event(2, 305, figure));
  lab.model.apply(event(2, 306, JobFinished{Outcome::Done, 18, ""}));
  lab.frames(4);
  EXPECT_EQ(said(),
            "cpu:0 reaches up to 187 GFLOP/s, 2.00 times as much as cpu:1: at most 700 products of "
            "512 x 512 matrices per second.");
  second.unstable = true;
  lab.model.apply(event(3, 307, JobStarted{"tour", StartTour{}}));
  for (const TourFigure& figure : {first, second}) lab.model.apply(event(3, 308, figure));
  lab.model.apply(event(3, 309, JobFinished{Outcome::Done, 18, ""}));
  lab.frames(4);
  EXPECT_EQ(said(), "The peak of cpu:1 was too unsteady to sum up this machine.");
}

// The sentence says so; the figure is the peak, which is steady.
TEST(TourPage, AnUnsteadyShareDoesNotMarkThePeak) {
  ui::Model model(machine_of(2));
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  TourFigure varied = tour_figure(cpu(), TourQuestion::Peak);
  varied.share_unsteady = true;
  model.apply(event(1, 301, varied));
  model.apply(event(1, 301, tour_figure(cpu(1), TourQuestion::Peak)));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model), 1, kTallTour);
  lab.open(Page::Tour);
  EXPECT_EQ(lab.backend.find("tour/headline")->label.find("kernel"), std::string::npos);
  EXPECT_TRUE(sentence_of(varied).ends_with("the lab's fastest kernel at least 84 %."))
      << sentence_of(varied);
  EXPECT_FALSE(lab.visible("tour/cpu:0/peak/disturbed"));
  EXPECT_FALSE(lab.visible("tour/mark_key"));
}

// The head says it before the tour; the figures are what it concerns.
TEST(TourPage, SaysBesideTheFiguresThatTheyDoNotAddUp) {
  MachineInfo two = machine_of(2);
  two.devices[1].cores = two.devices[0].cores;
  ui::Model model(two);
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  for (int i = 0; i < 2; ++i) {
    model.apply(event(1, 301, tour_figure(cpu(i), TourQuestion::Peak)));
  }
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model), 1, kTallTour);
  lab.open(Page::Tour);
  const std::string& said = lab.backend.find("tour/headline")->label;
  EXPECT_TRUE(said.ends_with(" Some share cores, so their figures do not add up.")) << said;
}

TEST(TourPage, ComparesSteadyFiguresWithTheTourBefore) {
  ui::Model model(machine_of(2));
  ui::TourResults earlier;
  earlier.measured = 1'700'000'000;
  earlier.earlier = true;
  for (int i = 0; i < 2; ++i) {
    for (const TourQuestion question : enum_values<TourQuestion>()) {
      earlier.add(tour_figure(cpu(i), question));
    }
  }
  earlier.figures.back().unstable = true;  // the training of cpu:1
  model.restore_tour(earlier);
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  for (TourFigure figure : earlier.figures) {
    figure.unstable = figure.question == TourQuestion::SmallCopy;
    figure.value *= figure.device == cpu() ? 1.021 : 0.5;
    figure.median = figure.value;
    figure.low = figure.high = figure.value;
    model.apply(event(1, 301, figure));
  }
  Lab lab(std::move(model), 1, kTallTour);
  lab.open(Page::Tour);
  const auto change = [&](const std::string& tile) {
    const std::string path = "tour/" + tile + "/change";
    if (!lab.visible(path)) return std::string();
    const std::string& text = lab.backend.find(path)->label;
    return text.substr(0, text.find(" since"));
  };
  for (const bool running : {true, false}) {
    SCOPED_TRACE(running);
    EXPECT_EQ(change("peak"), "cpu:0 +2.1 %, cpu:1 -50 %");
    EXPECT_EQ(change("training"), "cpu:0 +2.1 %") << "unsteady before";
    EXPECT_EQ(change("small_copy"), "") << "unsteady now";
    EXPECT_NE(lab.backend.find("tour/peak/change")->label.find("2023-11-1"), std::string::npos);
    lab.model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
    lab.frames(4);
  }
}

TEST(TourPage, CallsAChangeWithinTheNoiseNone) {
  ui::Model model(machine_of(2));
  ui::TourResults earlier;
  earlier.measured = 1'700'000'000;
  earlier.earlier = true;
  for (int i = 0; i < 2; ++i) earlier.add(tour_figure(cpu(i), TourQuestion::Peak));
  model.restore_tour(earlier);
  const auto said_after = [&](double first, double second) {
    Lab lab(model, 1, kTallTour);
    lab.model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
    for (TourFigure figure : earlier.figures) {
      figure.value *= figure.device == cpu() ? first : second;
      lab.model.apply(event(1, 301, figure));
    }
    lab.open(Page::Tour);
    return lab.backend.find("tour/peak/change")->label;
  };
  EXPECT_TRUE(said_after(0.9999, 1.004).starts_with("unchanged since 2023-11-1"));
  EXPECT_TRUE(said_after(0.9999, 1.1).starts_with("cpu:1 +10 % since 2023-11-1"));
}

// Those are pale and have their date.
TEST(TourPage, SaysWhichFiguresAreOfAnEarlierTour) {
  ui::Model model(machine_of(2));
  ui::TourResults earlier;
  earlier.measured = 1'700'000'000;
  earlier.earlier = true;
  for (int i = 0; i < 2; ++i) {
    for (const TourQuestion question : enum_values<TourQuestion>()) {
      earlier.add(tour_figure(cpu(i), question));
    }
  }
  model.restore_tour(earlier);
  for (JobId job = 1; job <= 2; ++job) {
    SCOPED_TRACE(job);
    model.apply(event(job, 300, JobStarted{"again", StartTour{}}));
    model.apply(event(job, 301, tour_figure(cpu(), TourQuestion::Peak)));
    model.apply(event(job, 302, JobFinished{Outcome::Cancelled, 3, ""}));
    Lab lab(model, 1, kTallTour);
    lab.open(Page::Tour);
    const auto older = [&](const char* tile) {
      const WidgetRect* shown = lab.backend.find(std::string("tour/") + tile + "/older");
      return shown == nullptr ? std::string() : shown->label;
    };
    EXPECT_TRUE(older("peak").starts_with("cpu:1 from 2023-11-1")) << older("peak");
    EXPECT_TRUE(older("training").starts_with("from 2023-11-1")) << older("training");
  }
}

TEST(TourPage, ComparesWithNoTourOfSeveralDates) {
  ui::Model model = make_scene(Page::Tour, Scene::Done);
  const auto run = [&](JobId job, double value, std::size_t figures, Outcome outcome) {
    model.apply(event(job, 300, JobStarted{"tour", StartTour{}}));
    for (std::size_t i = 0; i < figures; ++i) {
      TourFigure figure = tour_figure(cpu(), enum_values<TourQuestion>()[i]);
      figure.value = figure.median = figure.low = figure.high = value;
      figure.unstable = false;
      model.apply(event(job, 301, figure));
    }
    model.apply(event(job, 302, JobFinished{outcome, 1, ""}));
  };
  run(2, 100, 1, Outcome::Cancelled);
  ASSERT_FALSE(model.tour().current.older.empty());
  run(3, 200, enum_values<TourQuestion>().size(), Outcome::Done);
  EXPECT_TRUE(model.tour().current.older.empty());
  const ui::TourResults* before = model.tour_before();
  EXPECT_TRUE(before == nullptr || before->older.empty());
}

}  // namespace
}  // namespace lab::test
