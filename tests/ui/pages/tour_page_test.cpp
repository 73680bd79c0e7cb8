// The Tour page: the button and the figures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

const ImVec2 kTall(1280, 2400);

const WidgetRect* value_of(const Lab& lab, const std::string& figure) {
  return lab.backend.find("tour/" + figure + "/value");
}

// After a tour that other programs disturbed.
ui::Model disturbed_tour(int devices) {
  ui::Model model(machine_of(devices));
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  for (int i = 0; i < devices; ++i) {
    for (const TourQuestion question : enum_values<TourQuestion>()) {
      model.apply(event(1, 301, tour_figure(cpu(i), question)));
    }
  }
  model.apply(event(1, 302, CoresShared{0.31}));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  return model;
}

TEST(TourPage, IsTheFirstPageOfANewUser) {
  EXPECT_EQ(ui::ViewState{}.page, Page::Tour);
  EXPECT_EQ(static_cast<int>(Page::Tour), 0) << "Ctrl+1";
}

TEST(TourPage, OneButtonMeasuresAllDevices) {
  Lab lab(make_scene(Page::Tour, Scene::Empty));
  lab.open(Page::Tour);
  EXPECT_TRUE(lab.visible("tour/cpu:0/peak"));
  EXPECT_FALSE(lab.visible("tour/cpu:0/peak/value"));
  lab.click("tour/measure");
  ASSERT_EQ(lab.sent<StartTour>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartTour>()[0].devices.empty());
}

TEST(TourPage, LastsLongerWithMoreThanThreeDevices) {
  EXPECT_DOUBLE_EQ(tour_duration_s(20, 1), 20);
  EXPECT_DOUBLE_EQ(tour_duration_s(20, 3), 20);
  EXPECT_DOUBLE_EQ(tour_duration_s(20, 6), 40);
}

TEST(TourPage, ItsEndNamesThePeaks) {
  const ui::Model model = make_scene(Page::Tour, Scene::Done);
  const std::string& end = model.log().back().text;
  EXPECT_TRUE(end.ends_with("done: cpu:0 187 GFLOP/s, cpu:1 187 GFLOP/s")) << end;
}

TEST(TourPage, AMarkedFigureOfAnyDeviceMakesTheJobAWarning) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  model.apply(event(1, 300, JobStarted{"Tour", StartTour{}}));
  TourFigure wide = tour_figure(cpu(1), TourQuestion::Training);
  wide.high = 1.5 * wide.median;
  for (const TourFigure& figure : {tour_figure(cpu(), TourQuestion::Training), wide}) {
    model.apply(event(1, 301, figure));
  }
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  const auto& log = model.log();
  EXPECT_EQ(log.back().severity, Severity::Warning);
  EXPECT_NE(log.back().text.find("; unsteady: cpu:1 Training LeNet"), std::string::npos)
      << log.back().text;
  ASSERT_GE(log.size(), 3U);
  EXPECT_EQ(log[log.size() - 3].text, "cpu:0 9.53 k images/s");
  EXPECT_EQ(log[log.size() - 2].text, "cpu:1 9.53 k images/s (unsteady)");
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  const WidgetRect* key = lab.backend.find("tour/mark_key");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->label, "Unsteady; hover for why");
}

TEST(TourPage, AMarkChangesNeitherSizeNorPlaceOfAFigure) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  model.apply(event(1, 300, JobStarted{"Tour", StartTour{}}));
  TourFigure marked = tour_figure(cpu(1), TourQuestion::Training);
  marked.unstable = true;
  for (const TourFigure& figure : {tour_figure(cpu(), TourQuestion::Training), marked}) {
    model.apply(event(1, 301, figure));
  }
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  for (const float width : {1000.0F, 1280.0F, 1920.0F}) {
    Lab lab(model, 1, {width, 2400});
    lab.open(Page::Tour);
    const WidgetRect *steady = value_of(lab, "cpu:0/training"),
                     *unsteady = value_of(lab, "cpu:1/training");
    EXPECT_EQ(steady->max.x - steady->min.x, unsteady->max.x - unsteady->min.x) << width;
    EXPECT_EQ(steady->max.y - steady->min.y, unsteady->max.y - unsteady->min.y) << width;
    EXPECT_TRUE(lab.visible("tour/cpu:1/training/spread") || lab.visible("tour/training/spreads"))
        << width;
  }
}

TEST(TourPage, ShowsEachFigureWithItsSpreadAndSentence) {
  Lab lab(make_scene(Page::Tour, Scene::Done), 1, kTall);
  lab.open(Page::Tour);
  for (const char* device : {"cpu:0", "cpu:1"}) {
    for (const TourQuestion question : enum_values<TourQuestion>()) {
      EXPECT_TRUE(lab.visible(std::string("tour/") + device + "/" + to_string(question)));
    }
  }
  const WidgetRect* peak = value_of(lab, "cpu:0/peak");
  ASSERT_NE(peak, nullptr);
  EXPECT_EQ(peak->label, "187 GFLOP/s");
  EXPECT_EQ(peak->value,
            "With 512 x 512 matrices, three plain loops use 0.31 % of cpu:0's peak, the lab's "
            "fastest kernel 84 %.");
  EXPECT_EQ(value_of(lab, "cpu:0/small_copy")->label, "4.31 µs");
  EXPECT_EQ(value_of(lab, "cpu:0/training")->label, "9.53 k images/s");
  const WidgetRect* missing = value_of(lab, "cpu:1/bandwidth");
  ASSERT_NE(missing, nullptr);
  EXPECT_EQ(missing->label, "N/A");
  EXPECT_NE(missing->value.find("2 GiB"), std::string::npos) << "the reason";
}

TEST(TourPage, TextsNameTheSpreadOrTheReason) {
  TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
  peak.median = 180e9, peak.low = 171e9, peak.high = 189e9;
  EXPECT_EQ(spread_text(peak), "best of 31");
  EXPECT_EQ(percentiles_text(peak), "median 180 GFLOP/s, p10 171 GFLOP/s, p90 189 GFLOP/s, n = 31");
  TourFigure copy = tour_figure(cpu(), TourQuestion::SmallCopy);
  copy.unstable = true;
  EXPECT_EQ(spread_text(copy), "median of 31, ±3.5 %, unsteady");
  copy.complete = false;
  EXPECT_EQ(spread_text(copy), "median of 31, ±3.5 %") << "no verdict before the end";
  TourFigure once = copy, wide = copy;
  once.n = 1;
  EXPECT_EQ(spread_text(once), "1 repetition");
  wide.high = 3 * wide.median;
  EXPECT_EQ(spread_text(wide), "median of 31, over ±50 %");
  EXPECT_NE(sentence_of(copy).find("9.00 µs"), std::string::npos) << "all threads";
  copy.missing = "no room";
  EXPECT_EQ(spread_text(copy) + percentiles_text(copy), "");
  EXPECT_EQ(sentence_of(copy), "Not available: no room.");
}

TEST(TourPage, ATileOpensThePageThatExplainsIt) {
  for (const auto& [figure, page] :
       {std::pair{"peak", Page::Matmul}, std::pair{"bandwidth", Page::Transfers},
        std::pair{"small_copy", Page::Transfers}, std::pair{"training", Page::Training}}) {
    Lab lab(make_scene(Page::Tour, Scene::Done), 1, kTall);
    lab.open(Page::Tour);
    lab.click(std::string("tour/") + figure + "/link");
    EXPECT_EQ(lab.view.page, page) << figure;
  }
}

TEST(TourPage, FiguresFillWhileItRuns) {
  Lab lab(make_scene(Page::Tour, Scene::Running), 1, kTall);
  lab.open(Page::Tour);
  EXPECT_TRUE(lab.visible("tour/progress"));
  EXPECT_TRUE(lab.visible("tour/cpu:0/peak/value"));
  EXPECT_FALSE(lab.visible("tour/cpu:0/training/value"));
  lab.click("tour/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1U);
}

TEST(TourPage, ShowsTheTourOfAnEarlierSessionUntilItMeasuresAgain) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  ui::TourResults earlier;
  earlier.measured = 1'700'000'000;
  earlier.others = 0.4;
  earlier.earlier = true;
  TourFigure copy = tour_figure(cpu(), TourQuestion::SmallCopy);
  copy.unstable = true;
  earlier.add(copy);
  model.restore_tour(earlier);
  ui::TourResults late = earlier;
  late.figures.front().value = 1;
  model.restore_tour(late);  // ignored: there is one
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  EXPECT_EQ(value_of(lab, "cpu:0/small_copy")->label, "4.31 µs");
  const WidgetRect* when = lab.backend.find("tour/when");
  ASSERT_NE(when, nullptr);
  EXPECT_TRUE(when->label.starts_with("Measured 2023-11-1")) << when->label;
  EXPECT_EQ(lab.backend.find("tour/measure")->label, "Measure again");
  EXPECT_TRUE(lab.visible("tour/mark_key")) << "it was disturbed then";
}

TEST(TourPage, ATourStoppedAtOnceChangesNothing) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  ui::TourResults earlier;
  earlier.measured = 1'700'000'000;
  earlier.others = 0.4;
  earlier.earlier = true;
  earlier.add(tour_figure(cpu(), TourQuestion::SmallCopy));
  model.restore_tour(earlier);
  model.apply(event(1, 300, JobStarted{"again", StartTour{}}));
  model.apply(event(1, 301, JobFinished{Outcome::Cancelled, 1, ""}));
  EXPECT_TRUE(model.tour().current.earlier);
  EXPECT_EQ(model.tour().current.measured, 1'700'000'000);
  EXPECT_EQ(model.tour().current.others, 0.4);
}

TEST(TourPage, RemembersWhenATourEnded) {
  const ui::Model model = make_scene(Page::Tour, Scene::Done);
  EXPECT_GT(model.tour().current.measured, 0);
  EXPECT_FALSE(model.tour().current.earlier);
}

TEST(TourPage, OldFiguresStayUntilNewOnesArrive) {
  ui::Model model = make_scene(Page::Tour, Scene::Done);
  model.apply(event(2, 300, JobStarted{"again", StartTour{}}));
  TourFigure first = tour_figure(cpu(), TourQuestion::Peak);
  first.value = 200e9;
  model.apply(event(2, 301, first));
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  EXPECT_EQ(value_of(lab, "cpu:0/peak")->label, "200 GFLOP/s");
  EXPECT_EQ(value_of(lab, "cpu:0/training")->label, "9.53 k images/s");
}

// A tour that ended early keeps the earlier figures except those that it completed.
TEST(TourPage, KeepsEarlierFiguresWhenItEndsEarly) {
  for (const Outcome outcome : {Outcome::Cancelled, Outcome::Failed}) {
    SCOPED_TRACE(static_cast<int>(outcome));
    ui::Model model = make_scene(Page::Tour, Scene::Done);
    model.apply(event(2, 300, JobStarted{"again", StartTour{}}));
    TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
    peak.value = 200e9;
    model.apply(event(2, 301, peak));
    TourFigure copy = tour_figure(cpu(), TourQuestion::SmallCopy);
    copy.value = 9e-6;
    copy.complete = false;
    model.apply(event(2, 302, copy));
    model.apply(event(2, 303, JobFinished{outcome, 3, "lost"}));
    Lab lab(std::move(model), 1, kTall);
    lab.open(Page::Tour);
    EXPECT_EQ(value_of(lab, "cpu:0/peak")->label, "200 GFLOP/s");
    EXPECT_EQ(value_of(lab, "cpu:0/small_copy")->label, "4.31 µs");
    EXPECT_EQ(value_of(lab, "cpu:1/training")->label, "9.53 k images/s");
  }
}

TEST(TourPage, AStopMovesNothing) {
  float top = 0;
  for (const Outcome outcome : {Outcome::Done, Outcome::Cancelled}) {
    ui::Model model(machine_of(2));
    model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
    for (int i = 0; i < 2; ++i) {
      model.apply(event(1, 301, tour_figure(cpu(i), TourQuestion::Peak)));
    }
    model.apply(event(1, 303, JobFinished{outcome, 18, ""}));
    Lab lab(std::move(model));
    lab.open(Page::Tour);
    EXPECT_EQ(lab.backend.find("tour/when")->label,
              outcome == Outcome::Cancelled ? "Stopped after 18.0 s" : "Took 18.0 s");
    const float tile = lab.backend.find("tour/peak")->min.y;
    if (top > 0) {
      EXPECT_EQ(tile, top);
    }
    top = tile;
  }
}

// Nothing moves when repetitions vary, and no text is cut in a small window.
TEST(TourPage, UnsteadyFiguresNeedNoMoreRoom) {
  for (const int devices : {1, 2, 4}) {
    float height = 0;
    for (const bool varies : {false, true}) {
      SCOPED_TRACE(fmt::format("{} devices, {}", devices, varies));
      ui::Model model(machine_of(devices));
      model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
      for (int i = 0; i < devices; ++i) {
        for (const TourQuestion question : enum_values<TourQuestion>()) {
          TourFigure figure = tour_figure(cpu(i), question);
          figure.unstable = varies;
          figure.n = 719 + i;
          if (varies) figure.high = 3 * figure.median;
          model.apply(event(1, 301, figure));
        }
      }
      model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
      Lab lab(std::move(model));
      lab.open(Page::Tour);
      const WidgetRect* tile = lab.backend.find(devices == 1 ? "tour/cpu:0/peak" : "tour/peak");
      if (varies) {
        EXPECT_EQ(tile->max.y - tile->min.y, height);
      }
      height = tile->max.y - tile->min.y;
      if (!varies) continue;
      const char* const path =
          devices == 1 ? "tour/cpu:0/training/spread" : "tour/training/spreads";
      ASSERT_TRUE(lab.visible(path));
      EXPECT_TRUE(lab.backend.find(path)->label.ends_with("over ±50 %"))
          << lab.backend.find(path)->label;
      if (devices == 4) {
        EXPECT_EQ(lab.backend.find("tour/peak/spreads")->label, "best of 719 to 722");
      }
    }
  }
}

// Also where the figure leaves no room beside it.
TEST(TourPage, EachMedianHasItsSpread) {
  Lab lab(disturbed_tour(2));
  lab.open(Page::Tour);
  ASSERT_TRUE(lab.visible("tour/training/spreads"));
  EXPECT_EQ(lab.backend.find("tour/training/spreads")->label, "cpu:0 ±3.5 %, cpu:1 ±3.5 %");
}

TEST(TourPage, MarksAnInterruptedFigure) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
  peak.complete = false;
  model.apply(event(1, 301, peak));
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  const auto spread = [&] { return lab.backend.find("tour/cpu:0/peak/spread")->label; };
  EXPECT_EQ(spread(), "measuring; best of 31");
  lab.model.apply(event(1, 302, JobFinished{Outcome::Cancelled, 1, ""}));
  lab.frames(3);
  EXPECT_EQ(spread(), "interrupted; best of 31");
  lab.model.apply(event(2, 303, JobStarted{"again", StartTour{}}));
  lab.frames(3);
  EXPECT_EQ(spread(), "interrupted; best of 31") << "it is of the earlier tour";
  peak.complete = true;
  lab.model.apply(event(2, 304, peak));
  lab.frames(3);
  EXPECT_EQ(spread(), "best of 31");
}

TEST(TourPage, SaysWhenOtherProgramsTookTheCores) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  model.apply(event(1, 301, tour_figure(cpu(), TourQuestion::Peak)));
  model.apply(event(1, 302, CoresShared{0.31}));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model));
  lab.open(Page::Tour);
  const WidgetRect* note = lab.backend.find("tour/others");
  ASSERT_NE(note, nullptr);
  EXPECT_NE(note->label.find("31 %"), std::string::npos);
}

TEST(TourPage, NamesTheProgramsThatWereBusyBeforeIt) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  Telemetry reading;
  reading.programs =
      ProgramUse{.busiest = {{.name = "cc1plus", .cores = 0.8}, {.name = "idle", .cores = 0.001}}};
  model.apply(event(0, 299, reading));
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  model.apply(event(1, 301, tour_figure(cpu(), TourQuestion::Peak)));
  model.apply(event(0, 318, Telemetry{}));  // read long ago
  model.apply(event(1, 320, CoresShared{0.31}));
  model.apply(event(1, 320, JobFinished{Outcome::Done, 20, ""}));
  Lab lab(std::move(model));
  lab.open(Page::Tour);
  const WidgetRect* note = lab.backend.find("tour/others");
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->label.ends_with("all figures are still steady. Busiest just before: cc1plus."))
      << note->label;
}

TEST(TourPage, MarksDisturbedFigures) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
  peak.unstable = true;
  TourFigure copy = tour_figure(cpu(), TourQuestion::SmallCopy);
  copy.high = 1.5 * copy.median;
  for (const TourFigure& figure : {peak, copy, tour_figure(cpu(), TourQuestion::Training)}) {
    model.apply(event(1, 301, figure));
  }
  model.apply(event(1, 302, CoresShared{0.31}));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  const auto why = [&](const char* figure) {
    const WidgetRect* mark = lab.backend.find(std::string("tour/cpu:0/") + figure + "/disturbed");
    return mark == nullptr ? std::string() : mark->label;
  };
  EXPECT_NE(why("peak").find("time limit"), std::string::npos);
  EXPECT_NE(why("peak").find("31 %"), std::string::npos);
  EXPECT_NE(why("small_copy").find("31 %"), std::string::npos) << "a wide spread";
  EXPECT_FALSE(lab.visible("tour/cpu:0/training/disturbed"));
  EXPECT_TRUE(lab.visible("tour/others"));
  EXPECT_FALSE(lab.visible("tour/mark_key")) << "said once";
}

TEST(TourPage, MovesNothingBetweenItsStates) {
  for (const float width : {1000.0F, 1280.0F, 1920.0F, 2560.0F}) {
    float top = 0;
    for (const Scene scene : {Scene::Empty, Scene::Running, Scene::Done}) {
      SCOPED_TRACE(fmt::format("{} in state {}", width, static_cast<int>(scene)));
      Lab lab(make_scene(Page::Tour, scene), 1, {width, 2400});
      lab.open(Page::Tour);
      const WidgetRect* tile = lab.backend.find("tour/peak");
      if (top > 0) {
        EXPECT_EQ(tile->min.y, top);
      }
      top = tile->min.y;
      const float link = lab.backend.find("tour/peak/link")->min.y;
      EXPECT_EQ(lab.backend.find("tour/bandwidth/link")->min.y, link);
      EXPECT_FALSE(lab.backend.ui.wants_layout);
    }
  }
}

// The answers of a whole tour need no more room than the questions before it.
TEST(TourPage, TilesHaveTheRoomOfTheirAnswersFromTheStart) {
  for (const int devices : {1, 2, 4}) {
    for (const float width : {1000.0F, 1280.0F, 1920.0F}) {
      SCOPED_TRACE(fmt::format("{} devices at {}", devices, width));
      Lab lab{ui::Model(machine_of(devices)), 1, {width, 2400}};
      lab.open(Page::Tour);
      const char* const tile = devices == 1 ? "tour/cpu:0/peak" : "tour/peak";
      const float before = lab.backend.find(tile)->max.y;
      lab.model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
      for (int i = 0; i < devices; ++i) {
        for (const TourQuestion question : enum_values<TourQuestion>()) {
          lab.model.apply(event(1, 301, tour_figure(cpu(i), question)));
          lab.frames(4);
          EXPECT_EQ(lab.backend.find(tile)->max.y, before) << i << to_string(question);
        }
      }
      lab.model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
      lab.frames(4);
      EXPECT_EQ(lab.backend.find(tile)->max.y, before);
    }
  }
}

TEST(TourPage, TheBestRunHasItsNumberOfRunsAndNoSpread) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
  peak.value = 1.2 * peak.median;
  peak.unstable = true;
  model.apply(event(1, 301, peak));
  peak.device = cpu(1);
  peak.n = 40;
  model.apply(event(1, 301, peak));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  EXPECT_EQ(lab.backend.find("tour/peak/spreads")->label, "cpu:0 best of 31, cpu:1 best of 40");
  EXPECT_TRUE(lab.visible("tour/cpu:0/peak/disturbed"));
  EXPECT_FALSE(lab.visible("tour/cpu:0/peak/spread")) << "it would be the median's";
}

TEST(TourPage, ADisturbedTourNeedsNoMoreRoom) {
  const auto head = [](bool disturbed) {
    ui::Model model = make_scene(Page::Tour, Scene::Empty);
    Telemetry reading;
    reading.programs = ProgramUse{
        .busiest = {{.name = "clang-tidy", .cores = 0.8}, {.name = "clang++", .cores = 0.7}}};
    model.apply(event(0, 299, reading));
    model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
    for (int i = 0; i < 2; ++i) {
      TourFigure peak = tour_figure(cpu(i), TourQuestion::Peak);
      model.apply(event(1, 301, peak));
      TourFigure copy = tour_figure(cpu(i), TourQuestion::SmallCopy);
      copy.unstable = disturbed;
      model.apply(event(1, 301, copy));
    }
    if (disturbed) model.apply(event(1, 303, CoresShared{0.61}));
    model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
    Lab lab(std::move(model));
    lab.open(Page::Tour);
    EXPECT_EQ(lab.visible("tour/others"), disturbed);
    const WidgetRect* card = lab.backend.find("tour/head");
    return card->max.y - card->min.y;
  };
  EXPECT_EQ(head(true), head(false));
}

TEST(TourPage, AMarkStaysInItsTile) {
  ui::Model model = make_scene(Page::Tour, Scene::Done);
  model.apply(event(2, 300, JobStarted{"again", StartTour{}}));
  for (const TourQuestion question : enum_values<TourQuestion>()) {
    TourFigure figure = tour_figure(cpu(), question);
    figure.unstable = true;
    model.apply(event(2, 301, figure));
  }
  model.apply(event(2, 302, JobFinished{}));
  for (const float width : {1000.0F, 1100.0F, 1280.0F}) {
    Lab lab(model, 1, {width, 2400});
    lab.open(Page::Tour);
    const WidgetRect* mark = lab.backend.find("tour/cpu:0/training/disturbed");
    ASSERT_NE(mark, nullptr);
    EXPECT_LE(mark->max.x, lab.backend.find("tour/training")->max.x - 12) << width;
  }
}

TEST(TourPage, OneThreadIsNotAllThreads) {
  TourFigure bandwidth = tour_figure(cpu(), TourQuestion::Bandwidth);
  bandwidth.threads = 1;
  EXPECT_TRUE(sentence_of(bandwidth).starts_with("One thread reads")) << sentence_of(bandwidth);
  bandwidth.threads = 2;
  EXPECT_TRUE(sentence_of(bandwidth).starts_with("All threads read")) << sentence_of(bandwidth);
}

TEST(TourPage, MarksAMedianWithAWideSpreadOnAQuietMachine) {
  ui::Model model = make_scene(Page::Tour, Scene::Empty);
  model.apply(event(1, 300, JobStarted{"tour", StartTour{}}));
  TourFigure copy = tour_figure(cpu(), TourQuestion::SmallCopy);
  copy.low = 0.8 * copy.median;
  copy.high = 1.4 * copy.median;
  TourFigure peak = tour_figure(cpu(), TourQuestion::Peak);
  peak.low = 0.5 * peak.median;
  for (const TourFigure& figure : {peak, copy}) model.apply(event(1, 301, figure));
  model.apply(event(1, 303, JobFinished{Outcome::Done, 18, ""}));
  Lab lab(std::move(model), 1, kTall);
  lab.open(Page::Tour);
  const WidgetRect* mark = lab.backend.find("tour/cpu:0/small_copy/disturbed");
  ASSERT_NE(mark, nullptr);
  EXPECT_NE(mark->label.find("30 %"), std::string::npos) << mark->label;
  EXPECT_FALSE(lab.visible("tour/cpu:0/peak/disturbed")) << "the best run of a wide spread";
}

TEST(TourPage, ExplainsNoMarkWithoutOne) {
  Lab lab(make_scene(Page::Tour, Scene::Done), 1, kTall);
  lab.open(Page::Tour);
  EXPECT_FALSE(lab.visible("tour/mark_key"));
}

TEST(TourPage, TheLegendSaysWhichDevicesShareACore) {
  MachineInfo machine = machine_of(2);
  const auto legend = [&] {
    Lab lab(ui::Model(machine), 1, kTall);
    lab.open(Page::Tour);
    return lab.backend.find("tour/portrait/cpu:0")->label;
  };
  EXPECT_EQ(legend(), "cpu:0 = cores 0, 1");
  machine.devices[1].cores = machine.devices[0].cores;
  EXPECT_EQ(legend(), "cpu:0 = cores 0, 1, shared with cpu:1");
}

TEST(TourPage, ItsLinksLeadToWhatItMeasuredAndTheNextRun) {
  Lab lab(disturbed_tour(1), 1, kTall);
  const std::vector<std::pair<std::string, std::string>> links = {
      {"peak", "matmul"}, {"bandwidth", "transfers"}, {"training", "training"}};
  for (const auto& [figure, page] : links) {
    lab.open(Page::Tour);
    lab.click("tour/" + figure + "/link");
    lab.frames(3);
    EXPECT_TRUE(lab.visible(page + "/empty")) << page << " offers its run";
    const WidgetRect* sentence = lab.backend.find(page + "/empty/sentence");
    ASSERT_NE(sentence, nullptr) << page;
    EXPECT_NE(sentence->label.find("The tour measured"), std::string::npos) << sentence->label;
  }
}

TEST(TourPage, ThePortraitTakesPartOfALargeWindow) {
  const auto core = [](float height) {
    Lab lab(make_scene(Page::Tour, Scene::Done), 1, {2560, height});
    lab.open(Page::Tour);
    lab.frames(6);
    EXPECT_FALSE(lab.backend.ui.wants_layout);
    const WidgetRect* shown = lab.backend.find("tour/portrait/cpu:0/0");
    EXPECT_LE(lab.backend.find("tour/portrait")->max.y, height - 40);
    return shown->max.y - shown->min.y;
  };
  EXPECT_GT(core(1440), 2 * core(720));
}

TEST(TourPage, ResultsOfOneDeviceFitASmallWindow) {
  Lab lab(disturbed_tour(1));
  lab.open(Page::Tour);
  const WidgetRect* portrait = lab.backend.find("tour/portrait");
  ASSERT_NE(portrait, nullptr);
  EXPECT_LE(portrait->max.y + 12, 680);
}

TEST(TourPage, ExplainsThePlusMinusOfAFigure) {
  Lab lab(disturbed_tour(1), 1, kTall);
  lab.open(Page::Tour);
  const WidgetRect* spread = lab.backend.find("tour/cpu:0/small_copy/spread");
  ASSERT_NE(spread, nullptr);
  EXPECT_NE(spread->label.find("±"), std::string::npos) << spread->label;
  lab.backend.move_to(NullBackend::centre(*spread));
  lab.frames(60);
  const WidgetRect* tooltip = lab.backend.find("tooltip");
  ASSERT_NE(tooltip, nullptr);
  EXPECT_NE(tooltip->value.find("p10 to p90"), std::string::npos) << tooltip->value;
}

TEST(TourPage, FiguresOfManyDevicesLeaveRoomForThePortrait) {
  Lab lab(disturbed_tour(4));
  lab.open(Page::Tour);
  const WidgetRect* tile = lab.backend.find("tour/peak");
  ASSERT_NE(tile, nullptr);
  EXPECT_LT(tile->max.y - tile->min.y, 284);
  EXPECT_EQ(tile->value, "best run") << "instead of a spread per device";
  EXPECT_FALSE(lab.visible("tour/cpu:0/peak/spread"));
}

TEST(TourPage, ShowsWhenFiguresDoNotAddUp) {
  const auto said = [](const MachineInfo& machine) {
    Lab lab{ui::Model(machine)};
    lab.open(Page::Tour);
    return lab.backend.find("tour/what")->label;
  };
  EXPECT_EQ(said(machine_of(1)).find("each device"), std::string::npos);
  MachineInfo two = machine_of(2);
  EXPECT_NE(said(two).find("each device"), std::string::npos);
  EXPECT_EQ(said(two).find("share cores"), std::string::npos);
  two.devices[1].cores = two.devices[0].cores;
  EXPECT_NE(said(two).find("share cores"), std::string::npos);
}

TEST(TourPage, EmulatedGpusAreNeverTimed) {
  MachineInfo machine = machine_of(1);
  DeviceInfo info;
  info.device = emulated_gpu();
  info.name = "Emulated GPU";
  machine.devices.push_back(info);
  Lab lab(ui::Model(machine), 1, kTall);
  lab.open(Page::Tour);
  EXPECT_FALSE(lab.visible("tour/emu:0/peak"));
  const WidgetRect* note = lab.backend.find("tour/untimed");
  ASSERT_NE(note, nullptr);
  EXPECT_NE(note->label.find("emu:0"), std::string::npos);
  EXPECT_NE(note->label.find("never timed"), std::string::npos);
}

TEST(Notice, IsShownOnEveryPageUntilItIsClosed) {
  Lab lab(make_scene(Page::Tour, Scene::Empty));
  lab.view.notice = "Install the package fonts-noto-cjk.";
  for (int page = 0; page < ui::kPages; ++page) {
    lab.open(static_cast<Page>(page));
    const WidgetRect* text = lab.backend.find("notice/text");
    ASSERT_NE(text, nullptr) << page;
    EXPECT_EQ(text->label, lab.view.notice);
  }
  lab.click("notice/close");
  EXPECT_FALSE(lab.visible("notice/text"));
  lab.view.notice = "Another sentence.";
  lab.frames(3);
  EXPECT_TRUE(lab.visible("notice/text"));
}

}  // namespace
}  // namespace lab::test
