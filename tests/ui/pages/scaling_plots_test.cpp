// The plots and the bars of the Scaling page: ranges, axes and what predictions rest on.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

// One device, and two whose steps vary.
ui::Model two_counts() {
  ScalingPoint two = scaling_point(ScalingMode::Strong, 2);
  two.step.p10_s = 0.0400;
  two.step.p90_s = 0.0500;
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Scaling", StartScaling{}}));
  model.apply(event(1, 2, scaling_point(ScalingMode::Strong, 1)));
  model.apply(event(1, 3, two));
  model.apply(event(1, 4, JobFinished{}));
  return model;
}

TEST(ScalingPlots, APointsTooltipHasTheRangeOfItsWhisker) {
  Lab lab(two_counts(), 1, {1280, 1600});
  lab.open(Page::Scaling);
  for (const auto& [path, part] :
       {std::pair("scaling/plot/speedup", "measured\t1.94 times, 1.60 to 2.00"),
        std::pair("scaling/plot/efficiency", "measured\t97 %, 80 % to 100 %")}) {
    const ui::WidgetRect plot = *lab.backend.find(path);
    std::string tip;
    for (float x = plot.max.x - 5; x > plot.min.x && tip.find("2 devices\n") == std::string::npos;
         x -= 5) {
      lab.backend.move_to({x, (plot.min.y + plot.max.y) / 2});
      lab.frames(3);
      const auto* found = lab.backend.ui.widgets.find(std::string(path) + "/tooltip");
      tip = found == nullptr ? "" : found->value;
    }
    EXPECT_NE(tip.find(part), std::string::npos) << tip;
  }
}

TEST(ScalingPlots, TheAxisOfDevicesIsAlwaysLogarithmic) {
  ui::Model model = two_counts();
  for (const double most : {2.0, 16.0}) {
    Lab lab(model, 1, {1280, 1600});
    lab.open(Page::Scaling);
    lab.frames(60);
    const std::string ranges = lab.backend.find("scaling/plot/speedup")->value;
    double low = 0, high = 0;
    ASSERT_EQ(std::sscanf(ranges.c_str(), "x %lf..%lf", &low, &high), 2) << ranges;
    EXPECT_NEAR(low * high, most, 0.01 * most) << "as much room on both sides: " << ranges;
    StartScaling alone;
    alone.measure = false;
    alone.compute_s = 0.006;
    model.apply(event(2, 5, JobStarted{"Prediction", alone}));
    model.apply(event(2, 6, scaling_prediction(ScalingMode::Strong, 16)));
    model.apply(event(2, 7, JobFinished{}));
  }
}

TEST(ScalingPlots, BarsFromATypedTimeSaySo) {
  Lab lab(make_scene(Page::Scaling, Scene::Done), 1, {1280, 1600});
  lab.open(Page::Scaling);
  EXPECT_FALSE(lab.visible("scaling/steps_typed")) << "from the measured step";
  StartScaling alone;
  alone.measure = false;
  alone.compute_s = 0.006;
  lab.model.apply(event(900, 10, JobStarted{"Prediction", alone}));
  lab.model.apply(event(900, 11, scaling_prediction(ScalingMode::Strong, 16)));
  lab.model.apply(event(900, 12, JobFinished{}));
  lab.frames(6);
  ASSERT_TRUE(lab.visible("scaling/steps_typed"));
  EXPECT_EQ(lab.backend.find("scaling/steps_typed")->label,
            "Predicted bars: from the typed 6.00 ms.");
}

}  // namespace
}  // namespace lab::test
