// The timeline of a step on the Scaling page.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

// A recorded step of one and of two devices.
class ScalingTimeline : public ::testing::Test {
 protected:
  ScalingTimeline() {
    lab.open(Page::Scaling);
    lab.model.apply(event(1, 1, JobStarted{"Scaling", StartScaling{}}));
    for (const int devices : {1, 2}) {
      lab.model.apply(event(1, 2, step_timeline(devices)));
      lab.model.apply(event(1, 2, scaling_point(ScalingMode::Strong, devices)));
    }
    lab.model.apply(event(1, 3, JobFinished{}));
    lab.frames(6);
  }
  std::string sentence() { return lab.backend.find("scaling/lanes/sentence")->label; }

  Lab lab{ui::Model(machine_of(2)), 1, {1280, 2400}};
};

TEST_F(ScalingTimeline, StatesTheOverlap) {
  EXPECT_EQ(sentence(),
            "Step 7 took 10.0 ms on 2 devices. The sums were hidden behind backward for 75 % of "
            "their time, from the first full bucket to the complete sums.");
}

TEST_F(ScalingTimeline, ShowsTheDeviceCountOfTheChosenBar) {
  EXPECT_EQ(lab.backend.find("scaling/lanes")->value, "2 devices");
  lab.click("scaling/steps/1");
  EXPECT_EQ(lab.backend.find("scaling/lanes")->value, "1 device");
  EXPECT_EQ(sentence(), "Step 7 took 10.0 ms.");
  lab.click("scaling/steps/2");
  EXPECT_EQ(lab.backend.find("scaling/lanes")->value, "2 devices");
}

TEST_F(ScalingTimeline, ZoomsAndShowsAnotherStepWhole) {
  const auto view = [&] { return *lab.backend.find("scaling/lanes/view"); };
  lab.backend.move_to(NullBackend::centre(view()));
  lab.frame();
  lab.backend.control(true);
  lab.backend.wheel(3);
  lab.frames(3);
  lab.backend.control(false);
  EXPECT_NE(view().value, "0.0000 to 1.0000");
  lab.click("scaling/steps/1");
  EXPECT_EQ(view().value, "0.0000 to 1.0000");
}

TEST_F(ScalingTimeline, HoverShowsTheLayer) {
  const ui::WidgetRect& spans = *lab.backend.find("scaling/lanes/view/spans");
  const float x = spans.min.x + 0.2F * (spans.max.x - spans.min.x);  // 2 ms after the start
  lab.backend.move_to({x, spans.min.y + 10});
  lab.frames(3);
  const ui::WidgetRect* tip = lab.backend.find("tooltip");
  ASSERT_NE(tip, nullptr);
  for (const char* part : {"net.1 linear, forward", "1.00 MB", "1.00 GFLOP/s"}) {
    EXPECT_NE(tip->value.find(part), std::string::npos) << part << " in " << tip->value;
  }
}

TEST_F(ScalingTimeline, ExportsATrace) {
  lab.click("scaling/lanes/export");
  lab.click("save/yes");
  ASSERT_EQ(lab.sent<SaveText>().size(), 1U);
  const auto trace = nlohmann::json::parse(lab.sent<SaveText>()[0].text);
  int layers = 0;
  for (const auto& e : trace["traceEvents"]) layers += e.value("cat", "") == "forward" ? 1 : 0;
  EXPECT_EQ(layers, 4) << "two on each device";
}

TEST_F(ScalingTimeline, WarnsOfAStepUnlikeTheMedian) {
  ScalingPoint two = scaling_point(ScalingMode::Strong, 2);
  two.step.unstable = true;
  lab.model.apply(event(2, 4, JobStarted{"Scaling", StartScaling{}}));
  lab.model.apply(event(2, 5, step_timeline(2)));
  lab.model.apply(event(2, 5, two));
  lab.frames(6);
  ASSERT_TRUE(lab.visible("scaling/lanes/unlike")) << "although the steps are unsteady";
  EXPECT_EQ(lab.backend.find("scaling/lanes/unlike")->label,
            "Unlike most: the median step takes 41.2 ms.");
  StepTimeline like = step_timeline(2);
  like.step = 8;
  like.seconds = 0.045;
  lab.model.apply(event(2, 6, like));
  lab.frames(6);
  EXPECT_FALSE(lab.visible("scaling/lanes/unlike"));
  EXPECT_TRUE(
      sentence().starts_with("Step 8 took 45.0 ms on 2 devices. The median step takes 41.2 ms. "))
      << "the step recorded last: " << sentence();
}

TEST_F(ScalingTimeline, HoverExplainsBlanks) {
  const ui::WidgetRect spans = *lab.backend.find("scaling/lanes/view/spans");
  const float lane = 25;  // to the next one
  const auto tip_at = [&](float step_part, float y) {
    lab.backend.move_to({spans.min.x + step_part * (spans.max.x - spans.min.x), spans.min.y + y});
    lab.frames(3);
    const ui::WidgetRect* tip = lab.backend.find("tooltip");
    return tip == nullptr ? std::string() : tip->value;
  };
  EXPECT_EQ(tip_at(0.05F, 10),
            "waiting\nduration\t1.00 ms\nafter the step's start\t0 s to 1.00 ms");
  EXPECT_EQ(tip_at(0.625F, 10).find("summing a bucket\nduration\t500 "), 0U);
  EXPECT_EQ(tip_at(0.8F, 10 + lane).find("bucket on its way\n"), 0U);
  EXPECT_EQ(tip_at(0.3F, 10 + lane).find("no sums\n"), 0U);
  EXPECT_EQ(tip_at(0.5F, 5 + 2 * lane).find("no copies\n"), 0U);
}

}  // namespace
}  // namespace lab::test
