// The form of the Scaling page: its fields, estimate, buttons and commands.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

TEST(ScalingForm, DataParallelAsksForItsCosts) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1200});
  lab.open(Page::Scaling);
  EXPECT_FALSE(lab.visible("scaling/read_ms"));
  lab.click("scaling/more");
  lab.click("scaling/style/DataParallel");
  EXPECT_TRUE(lab.visible("scaling/read_ms"));
  EXPECT_FALSE(lab.visible("scaling/repeat_ms")) << "estimated";
  lab.click("scaling/estimate_repeat");
  EXPECT_TRUE(lab.visible("scaling/repeat_ms"));
  lab.click("scaling/compute_time/Typed in");
  EXPECT_TRUE(lab.visible("scaling/fixed_ms"));
}

TEST(ScalingForm, AWrongStepTimeIsSaidOnceAndPreventsNoMeasurement) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1200});
  lab.view.forms.scaling.compute_time = static_cast<int>(ui::ComputeTime::Typed);
  lab.view.forms.scaling.compute_ms = 6;
  lab.open(Page::Scaling);
  lab.click("scaling/compute_ms");
  lab.backend.type("-1");
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("scaling/compute_ms/error")->label, "A number above 0 ms");
  lab.click("scaling/batch");
  EXPECT_EQ(lab.backend.find("scaling/compute_ms/error")->label,
            "-1 is out of range: 6 is kept. A number above 0 ms");
  EXPECT_FALSE(lab.visible("scaling/form_error"));
  lab.click("scaling/compute_ms/less");
  EXPECT_EQ(lab.view.forms.scaling.compute_ms, 6) << "a step of 10 would end below";
  lab.view.forms.scaling.fixed_ms = 7;
  lab.frames(3);
  EXPECT_FALSE(lab.visible("scaling/form_error"));
  EXPECT_EQ(lab.backend.find("scaling/no_prediction")->label,
            "No prediction: the fixed part is 7.00 ms, but the whole step takes 6.00 ms; enter "
            "less.");
  EXPECT_FALSE(lab.backend.find("scaling/predict")->enabled);
  lab.click("scaling/run");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1U);
  EXPECT_EQ(lab.sent<StartScaling>()[0].predict_devices, 0);
  EXPECT_FALSE(lab.sent<StartScaling>()[0].compute_s);
}

TEST(ScalingForm, ModelSetsItsAccuracySteps) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1000});
  lab.open(Page::Scaling);
  lab.click("scaling/model");
  lab.click("scaling/model/MLP");
  EXPECT_EQ(lab.view.forms.scaling.request.accuracy_steps, 235);
}

TEST(ScalingForm, MeasuresThenPredictsFromTheMeasurement) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_FALSE(lab.backend.find("scaling/predict")->enabled) << "no time is known yet";
  EXPECT_EQ(lab.tooltip_of("scaling/predict"), "Measure first, or type in a step time");
  lab.click("scaling/run");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  EXPECT_TRUE(lab.sent<StartScaling>()[0].measure);
  lab.out.clear();
  lab.view.sent_after = -1;
  lab.show(make_scene(Page::Scaling, Scene::Done));
  lab.view.forms.scaling.request.link = "pcie3";
  lab.frames(3);
  EXPECT_EQ(lab.tooltip_of("scaling/predict"),
            "Calculates again from the measured step of 80.0 ms, without measuring");
  lab.click("scaling/predict");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  const StartScaling sent = lab.sent<StartScaling>()[0];
  EXPECT_FALSE(sent.measure);
  EXPECT_EQ(sent.link, "pcie3");
  EXPECT_EQ(sent.compute_s, scaling_point(ScalingMode::Strong, 1).step.median_s);
}

TEST(ScalingForm, PredictsFromOneDevice) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 720});
  lab.open(Page::Scaling);
  EXPECT_EQ(lab.backend.find("scaling/predict_one")->label, "Predict for 16 devices");
  lab.click("scaling/predict_one");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  const StartScaling quick = lab.sent<StartScaling>()[0];
  EXPECT_TRUE(quick.measure) << "no time is made up";
  EXPECT_EQ(quick.counts, std::vector{1});
  EXPECT_FALSE(quick.accuracy);
  lab.out.clear();
  lab.view.sent_after = -1;
  lab.view.forms.scaling.compute_time = static_cast<int>(ui::ComputeTime::Typed);
  lab.view.forms.scaling.compute_ms = 60;
  lab.click("scaling/predict_one");
  ASSERT_EQ(lab.sent<StartScaling>().size(), 1u);
  EXPECT_FALSE(lab.sent<StartScaling>()[0].measure);
  EXPECT_EQ(lab.sent<StartScaling>()[0].compute_s, 0.06);
}

TEST(ScalingForm, EstimatesFromTheTour) {
  ui::Model model = make_scene(Page::Scaling, Scene::Empty);
  ui::TourResults tour;
  TourFigure figure = tour_figure(model.devices().front(), TourQuestion::Training);
  figure.value = 2560;
  tour.add(figure);
  model.restore_tour(tour);
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Scaling);
  const std::string toured = lab.backend.find("scaling/estimate")->label;
  EXPECT_TRUE(toured.ends_with("more on a busy machine")) << toured;
  lab.click("scaling/model");
  lab.click("scaling/model/MLP");
  const std::string typical = lab.backend.find("scaling/estimate")->label;
  EXPECT_TRUE(typical.ends_with(" s at a typical speed")) << "another model: " << typical;
}

TEST(ScalingForm, ShowsBothButtonsInALowWindow) {
  for (const float scale : {1.0F, 1.5F}) {
    for (const int devices : {1, 2, 4}) {
      Lab lab(ui::Model(machine_of(devices)), scale, {1280, 720});
      lab.view.forms.scaling.more = true;
      lab.open(Page::Scaling);
      for (const char* path :
           {"scaling/run", "scaling/predict", "scaling/empty", "scaling/predict_one"}) {
        const ui::WidgetRect* found = lab.backend.find(path);
        ASSERT_NE(found, nullptr) << path;
        EXPECT_LT(found->max.y, 650) << path << " at scale " << scale << ", " << devices;
      }
      const ui::WidgetRect* card = lab.backend.find("scaling/nothing");
      EXPECT_LE(lab.backend.find("scaling/predict_one")->max.y, card->max.y - 8 * scale);
    }
  }
}

TEST(ScalingForm, SaysWhereTheLinkComesFrom) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1000});
  lab.view.forms.scaling.request.link = ui::usual_link(lab.model.machine());
  lab.open(Page::Scaling);
  EXPECT_TRUE(lab.visible("scaling/default_link"));
  lab.view.forms.scaling.request.link = "pcie3";
  lab.frames(3);
  EXPECT_FALSE(lab.visible("scaling/default_link")) << "chosen";
}

TEST(ScalingForm, TheRunButtonStopsTheRun) {
  Lab lab(make_scene(Page::Scaling, Scene::Empty), 1, {1280, 1000});
  lab.open(Page::Scaling);
  EXPECT_TRUE(lab.visible("scaling/estimate"));
  lab.show(make_scene(Page::Scaling, Scene::Running));
  EXPECT_FALSE(lab.visible("scaling/run"));
  lab.click("scaling/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1u);
}

}  // namespace
}  // namespace lab::test
