// The Training page's timeline of a step, and the estimate beside its Train button.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>

#include "tests/ui/events.h"
#include "tests/ui/pages/scenes.h"
#include "ui/model/training_estimate.h"
#include "ui/pages/step_timeline.h"
#include "ui/widgets/item.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

class TrainingTimeline : public ::testing::Test {
 protected:
  void open(int devices) {
    ui::Model model(machine_of(devices));
    StartTraining request;
    request.model = "mlp";
    for (int d = 0; d < devices; ++d) request.devices.push_back(cpu(d));
    request.timeline = true;
    model.apply(event(1, 1, JobStarted{"Training mlp", request}));
    TrainingStarted started = training_started(true);
    started.request = request;
    model.apply(event(1, 1, started));
    for (int step = 1; step <= 40; ++step) model.apply(event(1, 1, step_done(step)));
    model.apply(event(1, 2, step_timeline(devices)));
    lab.open(Page::Training);
    lab.show(std::move(model));
  }
  // Ends the training and begins another one, which has made one step.
  void start(JobId job) {
    StartTraining request;
    request.model = "mlp";
    request.devices = {cpu()};
    request.timeline = true;
    lab.model.apply(event(1, 3, JobFinished{}));
    lab.model.apply(event(job, 4, JobStarted{"Training mlp", request}));
    lab.model.apply(event(job, 4, step_done(1)));
  }
  const WidgetRect& view() { return *lab.backend.find("training/lanes/view"); }
  const WidgetRect& spans() { return *lab.backend.find("training/lanes/view/spans"); }

  Lab lab{make_scene(Page::Training, Scene::Empty), 1, {1280, 3600}};
};

TEST_F(TrainingTimeline, StatesTheOverlap) {
  open(2);
  EXPECT_EQ(lab.backend.find("training/lanes/sentence")->label,
            "Step 7 took 10.0 ms on 2 devices. The median step takes 22.9 ms. The sums were "
            "hidden behind backward for 75 % of their time, from the first full bucket to the "
            "complete sums.");
}

TEST(TimelineWords, SumsAfterBackwardAreNotHidden) {
  StepTimeline step = step_timeline(2);
  for (double& ready_s : step.buckets[0].ready_s) ready_s = 0.009;
  EXPECT_TRUE(ui::timeline_sentence(step, NAN).ends_with(
      "The sums were not hidden: backward had ended before the first was sent."))
      << ui::timeline_sentence(step, NAN);
}

TEST_F(TrainingTimeline, NamesOfTheLanesAreWhole) {
  open(2);
  ImFont* font = lab.backend.ui.fonts.caption;
  const float names = ui::text_size(font, "cpu:0").x + ui::text_size(font, "all-reduce").x;
  EXPECT_GE(spans().min.x - view().min.x, names);
}

TEST_F(TrainingTimeline, LeavesTheWheelWithoutCtrlToThePage) {
  open(1);
  ImGui::GetIO().DisplaySize.y = 800;
  lab.frames(6);
  const auto in_sight = [&] { return lab.visible("training/lanes/view") && view().max.y < 700; };
  for (int i = 0; i < 50 && !in_sight(); ++i) lab.scroll(-1);
  ASSERT_TRUE(in_sight());
  lab.frames(6);
  const float before = view().min.y;
  lab.backend.move_to({(spans().min.x + view().max.x) / 2, before + 10});
  lab.frame();
  lab.backend.wheel(-1);
  lab.frames(3);
  EXPECT_EQ(view().value, "0.0000 to 1.0000");
  EXPECT_LT(view().min.y, before);
}

TEST_F(TrainingTimeline, ZoomsWithTheWheelPansAndReturns) {
  open(1);
  EXPECT_EQ(view().value, "0.0000 to 1.0000");
  const ImVec2 middle{(spans().min.x + view().max.x) / 2, view().min.y + 10};
  lab.backend.move_to(middle);
  lab.frame();
  lab.backend.control(true);
  lab.backend.wheel(3);
  lab.frames(3);
  lab.backend.control(false);
  double begin = 0, end = 0;
  ASSERT_EQ(std::sscanf(view().value.c_str(), "%lf to %lf", &begin, &end), 2);
  EXPECT_NEAR(end - begin, 0.512, 1e-3);
  EXPECT_NEAR((begin + end) / 2, 0.5, 2e-3) << "around the pointer";
  const std::string zoomed = view().value;
  lab.backend.mouse(0, true);
  lab.frame();
  lab.backend.move_to({middle.x - 200, middle.y});
  lab.frames(2);
  lab.backend.mouse(0, false);
  lab.frames(2);
  EXPECT_NE(view().value, zoomed);
  lab.click("training/lanes/whole");
  EXPECT_EQ(view().value, "0.0000 to 1.0000");
}

TEST_F(TrainingTimeline, HoverShowsDurationBytesAndSpeed) {
  open(1);
  const float left = spans().min.x, width = view().max.x - left;
  lab.backend.move_to({left + 0.2F * width, view().min.y + 10});  // 2 ms after the start
  lab.frames(3);
  const WidgetRect* tip = lab.backend.find("tooltip");
  ASSERT_NE(tip, nullptr);
  for (const char* part :
       {"net.1 linear, forward", "784 to 256", "2.00 ms", "1.00 MB", "1.00 GFLOP/s"}) {
    EXPECT_NE(tip->value.find(part), std::string::npos) << part << " in " << tip->value;
  }
}

TEST_F(TrainingTimeline, ExportsATrace) {
  open(2);
  lab.click("training/lanes/export");
  lab.click("save/yes");
  ASSERT_EQ(lab.sent<SaveText>().size(), 1U);
  const auto trace = nlohmann::json::parse(lab.sent<SaveText>()[0].text);
  int losses = 0, layers = 0;
  for (const auto& e : trace["traceEvents"]) {
    losses += e["ph"] == "C" ? 1 : 0;
    layers += e["ph"] == "X" && e["cat"] == "forward" ? 1 : 0;
  }
  EXPECT_EQ(losses, 40);
  EXPECT_EQ(layers, 4);
}

TEST_F(TrainingTimeline, HoldsAStep) {
  open(1);
  lab.click("training/lanes/hold");
  StepTimeline later = step_timeline(1);
  later.step = 99;
  lab.model.apply(event(1, 3, later));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("training/lanes/sentence")->label,
            "Step 7 took 10.0 ms. The median step takes 22.9 ms.");
  lab.click("training/lanes/hold");
  EXPECT_EQ(lab.backend.find("training/lanes/sentence")->label,
            "Step 99 took 10.0 ms. The median step takes 22.9 ms.");
}

TEST_F(TrainingTimeline, ReleasesTheHeldStepForAnotherRun) {
  open(1);
  lab.click("training/lanes/hold");
  start(2);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("training/lanes/sentence")) << "nothing of the second run is recorded";
  StepTimeline later = step_timeline(1);
  later.step = 99;
  lab.model.apply(event(2, 3, later));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("training/lanes/sentence")->label,
            "Step 99 took 10.0 ms. The median step takes 23.1 ms.");
  lab.click("training/lanes/export");
  lab.click("save/yes");
  ASSERT_EQ(lab.sent<SaveText>().size(), 1U);
  const auto trace = nlohmann::json::parse(lab.sent<SaveText>()[0].text);
  const auto losses =
      std::ranges::count_if(trace["traceEvents"], [](const auto& e) { return e["ph"] == "C"; });
  EXPECT_EQ(losses, 1) << "the second run has one step";
}

TEST(TimelineByLane, DrawAWaitBeforeTheSumsItContains) {
  StepTimeline t = step_timeline(2);
  const auto at = [](int device, TimelineLane lane, int part) {
    return TimelineSpan{
        .device = device, .lane = lane, .phase = StepPhase::AllReduce, .part = part};
  };
  t.spans = {at(1, TimelineLane::Sums, 0), at(0, TimelineLane::Sums, 0),
             at(1, TimelineLane::Sums, -1), at(1, TimelineLane::Copies, 0)};
  const ui::TimelineByLane step(t);
  EXPECT_EQ(step.spans(1, TimelineLane::Sums), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(step.spans(0, TimelineLane::Sums), std::vector<std::size_t>{1});
  EXPECT_EQ(step.spans(1, TimelineLane::Copies), std::vector<std::size_t>{3});
  EXPECT_TRUE(step.spans(0, TimelineLane::Compute).empty());
}

TEST(TrainingEstimates, ComeFromAProbe) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 1200});
  lab.open(Page::Training);
  lab.click("training/probe");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1U);
  const StartTraining probe = lab.sent<StartTraining>()[0];
  EXPECT_TRUE(probe.probe);
  lab.model.apply(event(1, 1, JobStarted{"Speed of lenet on cpu:0", probe}));
  lab.frames(3);
  EXPECT_FALSE(lab.visible("status/pause")) << "a probe cannot be paused";
  lab.model.apply(event(1, 2, TrainingRate{probe, 250, 1000}));
  lab.model.apply(event(1, 3, JobFinished{}));
  EXPECT_TRUE(lab.model.runs().empty()) << "a probe is no training";
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("training/estimate")->label, "about 42 min on cpu:0, estimated");
  lab.click("training/two_minutes");
  const auto estimate = ui::estimate_of(to_command(lab.view.forms.training, lab.model.machine()),
                                        lab.model.runs(), lab.model.rates());
  ASSERT_TRUE(estimate);
  EXPECT_LE(estimate->seconds, 130);
  const std::string said = lab.backend.find("training/shortened")->label;
  EXPECT_EQ(said.substr(0, 19), "Shortened to about ") << said;
  EXPECT_NE(said.find(": 1 epoch, "), std::string::npos) << said;
  EXPECT_NE(said.find(",000 training images"), std::string::npos) << said;
  lab.click("training/undo_shorten");
  EXPECT_EQ(lab.view.forms.training.request.epochs, 10);
  EXPECT_EQ(lab.view.forms.training.request.synthetic_train, 60000);
  EXPECT_FALSE(lab.visible("training/shortened"));
}

TEST(TrainingEstimates, AreARangeIfTheSpeedVaried) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 1200});
  lab.open(Page::Training);
  const StartTraining request = to_command(lab.view.forms.training, lab.model.machine());
  lab.model.apply(event(1, 1, TrainingRate{request, 250, 1000, 125, 500}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("training/estimate")->label,
            "about 21 min to about 83 min on cpu:0, estimated");
}

TEST(TrainingEstimates, AreARangeIfOthersTookTime) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 1200});
  lab.open(Page::Training);
  StartTraining probe = to_command(lab.view.forms.training, lab.model.machine());
  probe.probe = true;
  lab.model.apply(event(1, 1, JobStarted{"Speed of lenet on cpu:0", probe}));
  lab.model.apply(event(1, 2, TrainingRate{probe, 250, 1000}));
  lab.model.apply(event(1, 3, CoresShared{0.5}));
  lab.model.apply(event(1, 4, JobFinished{}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("training/estimate")->label,
            "about 21 min to about 42 min on cpu:0, estimated");
}

TEST(TrainingEstimates, AProbeShowsItsProgress) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 1200});
  lab.open(Page::Training);
  StartTraining probe;
  probe.probe = true;
  lab.model.apply(event(1, 1, JobStarted{"Speed of lenet on cpu:0", probe}));
  lab.model.apply(event(1, 2, Progress{.done = 0.5, .what = "measuring the speed", .left_s = {}}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("training/progress"));
  EXPECT_EQ(lab.backend.find("training/progress")->value, "50.0 %");
}

TEST(TrainingEstimates, FitResNetByItsWidth) {
  StartTraining request;
  request.model = "resnet18";
  request.data = DataSource::FashionMnist;
  request.devices = {cpu()};
  ui::fit_into(120, {.seconds = 10 * 1000, .probed = true, .images_per_s = 60}, request);
  EXPECT_EQ(request.epochs, 1);
  EXPECT_EQ(request.width, 16) << "64, 32, 16: 1000 s, 333 s, 111 s per epoch";
}

// 60000 images of training at 60 per second and 10000 of tests at 180: 1056 s per epoch.
TEST(TrainingEstimates, FitSyntheticDataByItsImages) {
  StartTraining request;
  request.devices = {cpu()};
  const double one_s = 60000 / 60.0 + 10000 / 180.0;
  const double s =
      ui::fit_into(120, {.seconds = 10 * one_s, .probed = true, .images_per_s = 60}, request);
  EXPECT_EQ(request.epochs, 1);
  EXPECT_EQ(request.synthetic_train, 6000) << "a round number";
  EXPECT_EQ(request.synthetic_test, 1000);
  EXPECT_NEAR(s, 6000 / 60.0 + 1000 / 180.0, 1e-6);
}

TEST(TrainingEstimates, SayWhenNothingFits) {
  StartTraining request;
  request.devices = {cpu()};
  const double one_s = 60000 / 6.0 + 10000 / 18.0;
  const double s =
      ui::fit_into(120, {.seconds = 10 * one_s, .probed = true, .images_per_s = 6}, request);
  EXPECT_EQ(request.epochs, 1);
  EXPECT_EQ(request.synthetic_train, 1000);
  EXPECT_EQ(request.synthetic_test, 1000);
  EXPECT_NEAR(s, 1000 / 6.0 + 1000 / 18.0, 1e-6);
}

TEST(TrainingEstimates, OfferTheShortestTrainingOnce) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 1200});
  lab.open(Page::Training);
  const StartTraining request = to_command(lab.view.forms.training, lab.model.machine());
  lab.model.apply(event(1, 1, TrainingRate{request, 6, 18}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("training/two_minutes")->label, "Shorten to about 4 min");
  lab.click("training/two_minutes");
  EXPECT_FALSE(lab.visible("training/two_minutes"));
  EXPECT_TRUE(lab.visible("training/no_shorter"));
}

TEST(TrainingEstimates, SayWhenTheyAreOfEarlierSessionsOrOtherSteps) {
  StartTraining request;
  request.devices = {cpu()};
  const auto run = [&](JobId id) {
    ui::TrainingRun one(id, request);
    for (int step = 1; step <= 40; ++step) one.add(step_done(step));
    return one;
  };
  std::deque<ui::TrainingRun> runs;
  runs.push_back(run(-1));
  ASSERT_TRUE(ui::estimate_of(request, runs, {}));
  EXPECT_TRUE(ui::estimate_of(request, runs, {})->similar) << "perhaps of another machine";
  runs.push_back(run(1));
  EXPECT_FALSE(ui::estimate_of(request, runs, {})->similar);
  for (const auto change :
       {+[](StartTraining& r) { r.profile = true; }, +[](StartTraining& r) { r.timeline = true; },
        +[](StartTraining& r) { r.augment = Augmentation::Flip; },
        +[](StartTraining& r) { r.sum = GradientSum::Lab; },
        +[](StartTraining& r) { r.bucket_bytes = 1 << 20; },
        +[](StartTraining& r) { r.steps_ahead = 0; }}) {
    StartTraining other = request;
    change(other);
    EXPECT_TRUE(ui::estimate_of(other, runs, {})->similar);
  }
  StartTraining near = request;
  near.batch = request.batch * 4 / 3;
  EXPECT_TRUE(ui::estimate_of(near, runs, {})->similar);
  for (const auto change :
       {+[](StartTraining& r) { r.model = "mlp"; }, +[](StartTraining& r) { r.batch /= 2; },
        +[](StartTraining& r) { r.batch *= 2; },
        +[](StartTraining& r) { r.dtype = Precision::BF16; },
        +[](StartTraining& r) {
          r.data = DataSource::FashionMnist;
          r.batch = r.batch * 4 / 3;
        }}) {
    StartTraining other = request;
    change(other);
    EXPECT_FALSE(ui::estimate_of(other, runs, {}));
  }
}

TEST(TrainingEstimates, WarnOfATrainingThatNobodyMeans) {
  Lab lab{make_scene(Page::Training, Scene::Empty), 1, {1280, 1000}};
  lab.open(Page::Training);
  EXPECT_FALSE(lab.visible("training/long"));
  lab.view.forms.training.request.epochs = 1000000;
  lab.view.forms.training.request.batch = 1;
  lab.frames(3);
  const std::string said = lab.backend.find("training/long")->label;
  EXPECT_TRUE(said.starts_with("This training takes about 185 days. Start it only if")) << said;
  EXPECT_TRUE(lab.visible("training/probe"));
}

}  // namespace
}  // namespace lab::test
