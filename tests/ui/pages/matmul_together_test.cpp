// Products on several devices together: the form and results of the Matmul page.
#include <gtest/gtest.h>

#include "compute/experiments/registry.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/ui/pages/scenes.h"
#include "ui/model/run_estimate.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const ImVec2 kWholeTab{1920, 1400};

TEST(MatmulTogetherForm, SaysHowLongARunTakes) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeTab);
  lab.view.forms.matmul.sizes = "64..256";
  lab.open(Page::Matmul);
  lab.click("matmul/tab/Together");
  lab.frames(3);
  const ui::WidgetRect* said = lab.backend.find("matmul/estimate");
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(said->label, "about 2 s, more on a busy machine");
  lab.view.forms.matmul.sizes = "4096";
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("matmul/estimate")->label, "about 37 s, more on a busy machine")
      << "a size has a least number of rounds";
}

TEST(MatmulTogetherForm, ARunBeginsWithTheTimeThatTheFormShows) {
  Probe probe(2);
  StartMatmul request;
  request.together = true;
  request.sizes = {64, 256};
  message_of([&] { probe.run_until<Progress>(*make_experiment(request), 1); }, Errc::Cancelled);
  const double shown_s = ui::estimate_of(request, probe.machine.info(), {}).seconds;
  EXPECT_GT(shown_s, 0.9) << "two sizes of half a second";
  ASSERT_FALSE(probe.all<Progress>().empty());
  ASSERT_TRUE(probe.all<Progress>()[0].left_s);
  EXPECT_GE(*probe.all<Progress>()[0].left_s, shown_s);
  EXPECT_NEAR(*probe.all<Progress>()[0].left_s, shown_s, 1);
}

TEST(MatmulTogetherForm, AsksForAllDevicesAtOnce) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeTab);
  lab.open(Page::Matmul);
  lab.view.forms.matmul.device = 2;
  lab.click("matmul/tab/Together");
  EXPECT_FALSE(lab.visible("matmul/device"));
  EXPECT_FALSE(lab.visible("matmul/which"));
  EXPECT_FALSE(lab.visible("matmul/live"));
  lab.click("matmul/run");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartMatmul>()[0].together);
  EXPECT_TRUE(lab.sent<StartMatmul>()[0].devices.empty());
}

TEST(MatmulTogetherForm, ASavedChoiceOpensItsTab) {
  ui::Forms forms;
  load_forms(forms, {{"matmul.together", "1"}});
  EXPECT_EQ(forms.matmul.tabs.kind, static_cast<int>(ui::RunKind::Together));
}

TEST(MatmulTogetherForm, ShowsTheSpeedupPerSize) {
  Model model = make_scene(Page::Matmul, Scene::Empty);
  StartMatmul request;
  request.together = true;
  model.apply(event(1, 1, JobStarted{"Together", request}));
  const std::vector<Device> both = {cpu(0), cpu(1)};
  for (const Device device : both) {
    model.apply(event(1, 2, TogetherSample{device, both, 512, timing(1e-3), 268, true}));
  }
  model.apply(event(1, 2, TogetherSpeedup{both, 512, 10, 7, 0.02, 0.0105, 1.905, 1.8, 1.95, true}));
  model.apply(event(1, 2, TogetherSpeedup{both, 1024, 1, 7, 0.02, 0.01, 2.0, 0.9, 2.5, true}));
  Lab lab(std::move(model), 1, kWholeTab);
  lab.open(Page::Matmul);
  const ui::WidgetRect* row = lab.backend.find("matmul/together_rows/0");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->value, "512\t268 GFLOP/s\t268 GFLOP/s\t2.00 ms\t1.05 ms\t1.91x\t1.80–1.95")
      << "the times are of one product per device and divide to the speed-up";
  EXPECT_EQ(row->value.find("unsteady"), std::string::npos) << row->value;
  const ui::WidgetRect* unsteady = lab.backend.find("matmul/together_rows/1");
  ASSERT_NE(unsteady, nullptr);
  EXPECT_NE(unsteady->value.find("2.00x, unsteady"), std::string::npos) << unsteady->value;
  EXPECT_TRUE(lab.visible("matmul/plot/speedup"));
  EXPECT_TRUE(lab.visible("matmul/shares_cores"));
  EXPECT_FALSE(lab.visible("matmul/roofline_card"));
}

}  // namespace
}  // namespace lab::test
