// The form of the Matmul page: its fields, its estimate and what its buttons start.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/registry.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/ui/pages/scenes.h"
#include "ui/model/run_estimate.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const ImVec2 kWholeForm{1920, 1400};  // shows the page without scrolling

TEST(MatmulForm, SaysAtTheFieldWhichSizesItAccepts) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.open(Page::Matmul);
  lab.view.forms.matmul.sizes = "many";
  lab.frames(3);
  EXPECT_FALSE(lab.visible("matmul/form_error"));
  EXPECT_EQ(lab.backend.find("matmul/sizes/error")->label,
            "Size 'many' is not a positive whole number. Powers of two (from..to) or a "
            "comma-separated list (100,500).");
}

TEST(MatmulForm, WarnsOfARunOfHours) {
  MachineInfo machine = machine_of(2);
  for (DeviceInfo& info : machine.devices) info.memory_limit_bytes = 1000 * kGiB;
  Model model(machine);
  model.apply(event(0, 0, RungInfo{cpu(0), "simd", "simd", "What it adds."}));
  Lab lab(std::move(model), 1, kWholeForm);
  lab.view.forms.matmul.sizes = "100000";
  lab.open(Page::Matmul);
  EXPECT_NE(lab.backend.find("matmul/estimate")->label.find("This run takes about 5.6 h."),
            std::string::npos)
      << lab.backend.find("matmul/estimate")->label;
}

TEST(MatmulForm, RejectsSizesThatDoNotFitIntoMemory) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.view.forms.matmul.sizes = "64..99999999";
  lab.open(Page::Matmul);
  ASSERT_TRUE(lab.visible("matmul/sizes/error"));
  EXPECT_EQ(lab.backend.find("matmul/sizes/error")->label,
            "Size 32768 is too large; the largest whose three matrices fit into memory is 16384.");
  EXPECT_FALSE(lab.visible("matmul/estimate"));
  EXPECT_FALSE(lab.visible("matmul/form_error"));
  EXPECT_FALSE(lab.backend.find("matmul/run")->enabled);
  lab.view.forms.matmul.sizes = "64..16384";
  lab.frames(3);
  EXPECT_FALSE(lab.visible("matmul/sizes/error"));
  EXPECT_TRUE(lab.backend.find("matmul/run")->enabled);
}

TEST(MatmulForm, NamesNoDurationBeyondAYear) {
  EXPECT_EQ(ui::about(3 * 3600), "about 3.0 h");
  EXPECT_EQ(ui::about(5 * 86400), "about 5 days");
  EXPECT_EQ(ui::about(4e14), "more than a year");
}

TEST(MatmulForm, AnEmptyLadderOffersTheQuickOne) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.open(Page::Matmul);
  lab.click("matmul/empty/quick");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  EXPECT_EQ(lab.sent<StartMatmul>()[0].sizes, (std::vector<std::int64_t>{256, 512, 1024}));
}

TEST(MatmulForm, OffersAQuickLadder) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.view.forms.matmul.sizes = "many";
  lab.open(Page::Matmul);
  lab.click("matmul/quick");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  const StartMatmul sent = lab.sent<StartMatmul>()[0];
  EXPECT_EQ(sent.sizes, (std::vector<std::int64_t>{256, 512, 1024}));
  EXPECT_LE(ui::estimate_of(sent, lab.model.machine(), lab.model.rungs()).seconds, 12);
}

TEST(MatmulForm, TheQuickLadderSaysHowLongItTakesWithTheKernelsChosen) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.open(Page::Matmul);
  const std::string all = lab.backend.find("matmul/quick")->label;
  EXPECT_TRUE(all.starts_with("Quick, ")) << all;
  lab.view.forms.matmul.which = 2;
  lab.view.forms.matmul.chosen = {"simd"};
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("matmul/quick")->label, "Quick, 6 s");
}

TEST(MatmulForm, SaysHowLongARunStillTakes) {
  Model model = make_scene(Page::Matmul, Scene::Running);
  model.apply(event(model.job()->id, 5, Progress{0.5, "simd", 42.0}));
  Lab lab(std::move(model), 1, kWholeForm);
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/estimate")->label, "about 42 s left");
}

TEST(MatmulForm, ALiveRunDoesNotReadTheListOfSizes) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.open(Page::Matmul);
  lab.view.forms.matmul.sizes = "many";
  lab.frames(3);
  EXPECT_FALSE(lab.backend.find("matmul/run")->enabled);
  lab.click("matmul/tab/Live");
  lab.click("matmul/live");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  EXPECT_EQ(lab.sent<StartMatmul>()[0].sizes, std::vector<std::int64_t>{512});
  lab.view.forms.matmul.which = 2;
  lab.view.forms.matmul.chosen.clear();
  lab.view.sent_after = -1;
  lab.frames(3);
  EXPECT_FALSE(lab.backend.find("matmul/live")->enabled) << "no kernel is ticked";
}

TEST(MatmulForm, KeepsTf32WhileTheGpuIsAbsent) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kWholeForm);
  lab.view.forms.matmul.request.dtype = Precision::TF32;
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.view.forms.matmul.request.dtype, Precision::TF32);
  lab.click("matmul/dtype/bf16");
  EXPECT_EQ(lab.view.forms.matmul.request.dtype, Precision::BF16);
}

TEST(MatmulForm, SaysHowLongALadderTakes) {
  Model model(machine_of(2));
  for (const char* name : {"naive", "simd"}) {
    model.apply(event(0, 0, RungInfo{cpu(1), name, name, "What it adds."}));
  }
  Lab lab(std::move(model), 1, kWholeForm);
  lab.view.forms.matmul.sizes = "64..256";
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/estimate")->label, "about 3 s, more on a busy machine");
}

TEST(MatmulForm, ALadderBeginsWithTheTimeThatTheFormShows) {
  Probe probe(2);
  StartMatmul request;
  request.sizes = {64, 256};
  message_of([&] { probe.run_until<Progress>(*make_experiment(request), 1); }, Errc::Cancelled);
  std::vector<RungInfo> rungs;
  for (const Device device : probe.machine.devices()) {
    std::ranges::copy(matmul_rungs(probe.machine.at(device)), std::back_inserter(rungs));
  }
  const double shown_s = ui::estimate_of(request, probe.machine.info(), rungs).seconds;
  ASSERT_FALSE(probe.all<Progress>().empty());
  ASSERT_TRUE(probe.all<Progress>()[0].left_s);
  EXPECT_GE(*probe.all<Progress>()[0].left_s, shown_s);
  EXPECT_NEAR(*probe.all<Progress>()[0].left_s, shown_s, 1);
}

TEST(MatmulForm, RareSettingsAreFoldedBelowTheButtons) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, {1280, 720});
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/run"));
  EXPECT_FALSE(lab.visible("matmul/seed"));
  lab.click("matmul/more");
  lab.frames(3);
  EXPECT_TRUE(lab.visible("matmul/seed"));
}

TEST(MatmulLiveForm, ChoosesTheDeviceThatRuns) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 1, kWholeForm);
  lab.open(Page::Matmul);
  lab.click("matmul/tab/Live");
  EXPECT_FALSE(lab.visible("matmul/sizes")) << "those of the ladder";
  EXPECT_FALSE(lab.visible("matmul/estimate"));
  EXPECT_TRUE(lab.visible("matmul/live_size"));
  EXPECT_EQ(lab.backend.find("matmul/live")->label, "Run live on cpu:0");
  lab.click("matmul/live_device");
  lab.click("matmul/live_device/cpu:1");
  lab.click("matmul/live");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1U);
  EXPECT_EQ(lab.sent<StartMatmul>()[0].devices, std::vector<Device>{cpu(1)});
  EXPECT_TRUE(lab.sent<StartMatmul>()[0].live);
}

}  // namespace
}  // namespace lab::test
