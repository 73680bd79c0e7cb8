// The Training page while a probe measures the speed, and its list of runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

class TrainingPage : public ::testing::Test {
 protected:
  // A training of `steps` steps that has ended.
  void train(ui::Model& model, JobId job, std::int64_t steps = 10) {
    model.apply(event(job, 1, JobStarted{"Training", StartTraining{}}));
    model.apply(event(job, 2, training_started(true)));
    for (std::int64_t step = 1; step <= steps; ++step) model.apply(event(job, 3, step_done(step)));
    model.apply(event(job, 4, JobFinished{Outcome::Done, 1, ""}));
  }
  void probe(ui::Model& model, JobId job) {
    StartTraining request;
    request.probe = true;
    model.apply(event(job, 5, JobStarted{"Speed of lenet on cpu:0", request}));
  }
  void show(ui::Model model) {
    lab.open(Page::Training);
    lab.show(std::move(model));
  }
  // The text of the tooltip of a widget.
  std::string tip_of(std::string_view path) {
    lab.backend.move_to(NullBackend::centre(*lab.backend.find(path)));
    lab.frames(60);
    return lab.visible("tooltip") ? lab.backend.find("tooltip")->value : "";
  }

  Lab lab{ui::Model(machine_of(1)), 1, {1280, 1200}};
};

TEST_F(TrainingPage, AProbeIsNoTraining) {
  ui::Model model(machine_of(1));
  probe(model, 1);
  show(std::move(model));
  EXPECT_TRUE(lab.visible("training/stop"));
  for (const char* path : {"training/start", "training/pause", "training/stop_after_epoch"}) {
    EXPECT_FALSE(lab.visible(path)) << path;
  }
  EXPECT_TRUE(lab.backend.find("training/model")->enabled);
  EXPECT_TRUE(lab.backend.find("training/lr")->enabled);
  lab.click("training/epochs/more");
  lab.frames(3);
  EXPECT_TRUE(lab.sent<ChangeTraining>().empty());
  lab.model.apply(event(1, 6, TrainingRate{StartTraining{}, 250, 1000}));
  lab.frames(3);
  lab.click("training/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1U);
}

TEST_F(TrainingPage, AProbeAfterADivergedRunAdvisesToTrainAgain) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  StepDone step = step_done(1);
  step.loss = 1e10;
  model.apply(event(1, 3, step));
  model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  probe(model, 2);
  show(std::move(model));
  const std::string said = lab.backend.find("training/diverged")->label;
  EXPECT_EQ(said.find("stop, lower the rate"), std::string::npos) << said;
  EXPECT_NE(said.find("Lower the rate"), std::string::npos) << said;
}

TEST_F(TrainingPage, RunsThatCoincideAreNamed) {
  ui::Model model(machine_of(1));
  train(model, 1, 40);
  show(model);
  EXPECT_FALSE(lab.visible("training/coincide"));
  train(model, 2, 40);
  lab.show(std::move(model));
  const std::string said = lab.backend.find("training/coincide")->label;
  EXPECT_TRUE(said.starts_with("2 runs coincide: ")) << said;
  EXPECT_NE(said.find("(2)"), std::string::npos) << said;
}

TEST_F(TrainingPage, TheTooltipOfTheLossListsAllRuns) {
  ui::Model model(machine_of(1));
  train(model, 1, 40);
  train(model, 2, 40);
  show(std::move(model));
  const WidgetRect& plot = *lab.backend.find("training/plot/loss");
  lab.backend.move_to({plot.max.x - 30, (plot.min.y + plot.max.y) / 2});
  lab.frames(3);
  const std::string tip = lab.backend.find("training/plot/loss/tooltip")->value;
  const std::string all = tip.substr(std::min(tip.rfind("\n\n"), tip.size()));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\t'), 2) << tip;
}

TEST_F(TrainingPage, ADisturbedSpeedIsMarked) {
  for (const auto& [others, images_per_s] :
       {std::pair{0.0, 11200.0}, std::pair{0.58, 9000.0}, std::pair{0.0, 9000.0}}) {
    ui::Model model(machine_of(1));
    model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
    model.apply(event(1, 2, training_started(true)));
    for (std::int64_t step = 1; step <= 10; ++step) model.apply(event(1, 3, step_done(step)));
    TrainingDone done;
    done.images_per_s = images_per_s;  // a low mean alone has no known cause
    model.apply(event(1, 4, done));
    model.apply(event(1, 4, CoresShared{others}));
    model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
    const bool disturbed = others > 0;
    EXPECT_EQ(model.log().back().severity, disturbed ? Severity::Warning : Severity::Info);
    show(std::move(model));
    EXPECT_EQ(lab.visible("training/figure/speed/disturbed"), disturbed);
    EXPECT_EQ(lab.backend.find("training/figure/speed")->value.find("mean 9") != std::string::npos,
              images_per_s < 10'000);
    if (!disturbed) continue;
    EXPECT_TRUE(lab.backend.find("training/others")
                    ->label.ends_with("figures may be worse than the device can do."))
        << lab.backend.find("training/others")->label;
  }
}

TEST_F(TrainingPage, AMeanFarFromTheMedianIsAsLarge) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  for (std::int64_t step = 1; step <= 10; ++step) model.apply(event(1, 3, step_done(step)));
  TrainingDone done;
  done.images_per_s = 3000;
  model.apply(event(1, 4, done));
  model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
  show(std::move(model));
  const WidgetRect& speed = *lab.backend.find("training/figure/speed");
  EXPECT_EQ(speed.label, "images/s: median; mean");
  EXPECT_TRUE(speed.value.ends_with("; 3.00 k")) << speed.value;
  EXPECT_EQ(lab.backend.find("training/figure/speed/reason")->label,
            "Some steps took far longer than the median.");
}

TEST_F(TrainingPage, TheLabelOfAChangeIsBesideThatOfTheReference) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  for (int step = 1; step <= 100; ++step) {
    StepDone one = step_done(step);
    one.loss = 2.31;  // on the reference, whose label is near the top then
    model.apply(event(1, 3, one));
  }
  for (const int step : {5, 15, 25}) {
    model.apply(event(1, 4, TrainingChanged{step, 0.1, "lr", "0.9", "0.3", 2350}));
  }
  ImGui::GetIO().DisplaySize = {1280, 720};
  show(std::move(model));
  const WidgetRect guess = *lab.backend.find("training/plot/loss/reference/0");
  for (const char* path : {"training/plot/loss/mark/0", "training/plot/loss/mark/1"}) {
    const WidgetRect mark = *lab.backend.find(path);
    const bool apart = mark.max.x <= guess.min.x || mark.min.x >= guess.max.x ||
                       mark.max.y <= guess.min.y || mark.min.y >= guess.max.y;
    EXPECT_TRUE(apart) << path;
  }
}

TEST_F(TrainingPage, ARunDoesNotRepeatItsName) {
  ui::Model model(machine_of(1));
  for (const JobId job : {1, 2}) {
    TrainingStarted started = training_started(true);
    started.request.lr = started.lr = job == 1 ? 0.9 : 0.3;
    started.request.epochs = job;
    model.apply(event(job, 1, JobStarted{"Training", started.request}));
    model.apply(event(job, 2, started));
    model.apply(event(job, 3, step_done(1)));
    model.apply(event(job, 5, JobFinished{Outcome::Done, 1, ""}));
  }
  show(std::move(model));
  const WidgetRect run = *lab.backend.find("training/runs/1");
  EXPECT_NE(run.label.find("lr 0.9"), std::string::npos) << run.label;
  EXPECT_TRUE(run.value.starts_with("epochs 1")) << run.value;
  EXPECT_EQ(run.value.find("lr"), std::string::npos) << run.value;
  lab.view.forms.training.runs[1].name = "mine";
  lab.frames(2);
  EXPECT_TRUE(lab.backend.find("training/runs/1")->value.starts_with("lr 0.9, epochs 1"));
}

TEST_F(TrainingPage, ALossOfAGuessIsExplainedWhileItLasts) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  for (std::int64_t i = 1; i <= 150; ++i) {
    StepDone step = step_done(i);
    step.loss = 2.303;
    model.apply(event(1, 3, step));
  }
  show(model);
  const std::string said = lab.backend.find("training/guessing")->label;
  EXPECT_TRUE(
      said.starts_with("The loss is still that of guessing among 10 classes. LeNet may need"))
      << said;
  for (std::int64_t i = 151; i <= 300; ++i) model.apply(event(1, 3, step_done(i)));
  lab.show(std::move(model));
  EXPECT_FALSE(lab.visible("training/guessing"));
}

TEST_F(TrainingPage, ABatchLargerThanTheDataIsRemarked) {
  lab.open(Page::Training);
  lab.view.forms.training.request.data = DataSource::Synthetic;
  lab.view.forms.training.request.synthetic_train = 2000;
  lab.view.forms.training.request.batch = 2000;
  lab.frames(3);
  EXPECT_FALSE(lab.visible("training/large_batch"));
  lab.view.forms.training.request.batch = 2001;
  lab.frames(3);
  EXPECT_TRUE(lab.visible("training/large_batch"));
}

// A run whose first epoch has ended.
ui::Model after_an_epoch(const EpochDone& epoch, const StartTraining& request = {}) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", request}));
  model.apply(event(1, 2, training_started(true)));
  model.apply(event(1, 3, step_done(1)));
  model.apply(event(1, 4, epoch));
  return model;
}

TEST_F(TrainingPage, ARunThatHasLearntNothingSaysSo) {
  for (const double accuracy : {0.1, 0.135, 0.5}) {
    EpochDone epoch = epoch_done(1);
    epoch.test_acc = accuracy;
    ui::Model model = after_an_epoch(epoch);
    lab.open(Page::Training);
    lab.show(model);
    EXPECT_FALSE(lab.visible("training/advice")) << "it still runs";
    model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
    lab.show(std::move(model));
    EXPECT_EQ(lab.visible("training/advice"), accuracy < 0.2);
    if (accuracy > 0.2) continue;
    const std::string said = lab.backend.find("training/advice")->label;
    EXPECT_NE(said.find("LeNet may need up to about 940 steps of 256 images: train on more images"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("no better than guessing") != std::string::npos, accuracy < 0.12) << said;
  }
}

TEST_F(TrainingPage, StepsThatAModelNeedsAreThoseOfTheRun) {
  StartTraining request;
  request.batch = 28;
  EpochDone epoch = epoch_done(1);
  epoch.test_acc = 0.1;
  ui::Model model = after_an_epoch(epoch, request);
  model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
  show(std::move(model));
  const std::string said = lab.backend.find("training/advice")->label;
  EXPECT_NE(said.find("about 8600 steps of 28 images"), std::string::npos) << said;
}

TEST_F(TrainingPage, ALongRunThatHasLearntNothingIsToldToChangeItsRate) {
  StartTraining request;
  request.batch = 256 * 940;  // as many images in one step as LeNet needs
  EpochDone epoch = epoch_done(1);
  epoch.test_acc = 0.1;
  ui::Model model = after_an_epoch(epoch, request);
  model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
  show(std::move(model));
  const std::string said = lab.backend.find("training/advice")->label;
  EXPECT_NE(said.find("Try another learning rate (the model's default is 0.9)"), std::string::npos)
      << said;
}

TEST_F(TrainingPage, ARunThatKnowsItsImagesByHeartIsToldToUseMore) {
  EpochDone epoch = epoch_done(1);
  epoch.train_acc = 0.9;
  epoch.test_acc = 0.6;
  ui::Model model = after_an_epoch(epoch);
  model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
  show(std::move(model));
  const std::string said = lab.backend.find("training/advice")->label;
  EXPECT_NE(said.find("Train on more images"), std::string::npos) << said;
}

TEST_F(TrainingPage, TheSecondsOfEpochsStartAtTheFirst) {
  show(make_scene(Page::Training, Scene::Done));
  const WidgetRect* plot = lab.backend.find("training/plot/seconds");
  ASSERT_NE(plot, nullptr);
  EXPECT_EQ(plot->value.substr(0, 7), "x 0.5..");
}

TEST_F(TrainingPage, TheLossPlotShowsTheLossOfAGuess) {
  show(make_scene(Page::Training, Scene::Done));
  const WidgetRect* guess = lab.backend.find("training/plot/loss/reference/0");
  ASSERT_NE(guess, nullptr);
  EXPECT_EQ(guess->label, "guessing among 10 classes: ln 10 = 2.303");
}

// The figure, the curve and its tooltip all read smoothed_loss().
TEST_F(TrainingPage, TheSmoothedLossFollowsTheSlider) {
  ui::Model model(machine_of(1));
  train(model, 1, 200);
  show(std::move(model));
  lab.view.forms.training.smoothing = 0;
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("training/figure/loss")->value,
            fmt::format("{:.3f}", step_done(200).loss));
  ui::Ema ema(0.99);
  std::vector<double> smooth;
  for (std::int64_t step = 1; step <= 200; ++step) smooth.push_back(ema.add(step_done(step).loss));
  lab.view.forms.training.smoothing = 0.99;
  lab.frames(2);
  const std::string figure = lab.backend.find("training/figure/loss")->value;
  EXPECT_EQ(figure, fmt::format("{:.3f}", smooth.back()));
  const WidgetRect& plot = *lab.backend.find("training/plot/loss");
  lab.backend.move_to({plot.max.x - 30, (plot.min.y + plot.max.y) / 2});
  lab.frames(3);
  const std::string tip = lab.backend.find("training/plot/loss/tooltip")->value;
  const std::size_t at = tip.find("step\t");
  ASSERT_NE(at, std::string::npos) << tip;
  const auto step = std::stoul(tip.substr(at + 5));
  EXPECT_NE(tip.find(fmt::format("smoothed loss\t{:.4f}", smooth.at(step - 1))), std::string::npos)
      << tip;
}

TEST_F(TrainingPage, GroupsRunsByASettingThatDiffers) {
  ui::Model model(machine_of(1));
  for (const JobId job : {1, 2, 3}) {
    TrainingStarted started = training_started(true);
    started.request.lr = job == 2 ? 0.3 : 0.9;
    started.request.seed = static_cast<std::uint64_t>(job);
    model.apply(event(job, 1, JobStarted{"Training", started.request}));
    model.apply(event(job, 2, started));
    model.apply(event(job, 3, step_done(1)));
    EpochDone epoch = epoch_done(1);
    epoch.test_acc = 0.7 + 0.02 * static_cast<double>(job);
    model.apply(event(job, 4, epoch));
    model.apply(event(job, 5, JobFinished{Outcome::Done, 1, ""}));
  }
  ImGui::GetIO().DisplaySize.y = 2000;
  show(std::move(model));
  EXPECT_FALSE(lab.visible("training/runs/groups/1"));
  lab.click("training/runs/group");
  lab.click("training/runs/group/Learning rate");
  EXPECT_EQ(lab.view.forms.training.group_by, "lr");
  EXPECT_EQ(lab.backend.find("training/runs/groups/1")->label,
            "lr 0.9: 2 runs, test 74.0 % (72.0 % to 76.0 %)");
  EXPECT_EQ(lab.backend.find("training/runs/groups/2")->label, "lr 0.3: 1 run, test 74.0 %");
  EXPECT_LT(lab.backend.find("training/runs/1")->max.y, lab.backend.find("training/runs/2")->min.y)
      << "the group of the newest run comes first";
  lab.click("training/runs/group");
  lab.click("training/runs/group/none");
  EXPECT_FALSE(lab.visible("training/runs/groups/1"));
}

TEST_F(TrainingPage, AccuraciesHaveOneDecimal) {
  EpochDone epoch = epoch_done(1);
  epoch.test_acc = 0.9148;
  show(after_an_epoch(epoch));
  EXPECT_EQ(lab.backend.find("training/figure/test_acc")->value, "91.5 %");
  const std::string tip = tip_of("training/runs/1/rename");
  EXPECT_NE(tip.find("\ntest accuracy\t91.5 %\nepochs\t1"), std::string::npos) << tip;
}

TEST_F(TrainingPage, AccuraciesNameTheirEpoch) {
  ui::Model model = after_an_epoch(epoch_done(1));
  for (int step = 2; step <= 10; ++step) model.apply(event(1, 5, step_done(step)));
  show(std::move(model));
  EXPECT_EQ(lab.backend.find("training/figure/train_acc")->label, "train accuracy, epoch 1");
  EXPECT_EQ(lab.backend.find("training/figure/test_acc")->label, "test accuracy, epoch 1");
}

TEST_F(TrainingPage, OnlyTheLiveFieldsCanBeChangedWhileItRuns) {
  show(make_scene(Page::Training, Scene::Running));
  for (const char* path : {"training/preset", "training/model", "training/data", "training/batch",
                           "training/synthetic_train", "training/synthetic_test"}) {
    EXPECT_FALSE(lab.backend.find(path)->enabled) << path;
    EXPECT_NE(tip_of(path).find("Locked while this training runs"), std::string::npos) << path;
  }
  for (const char* path : {"training/lr", "training/epochs"}) {
    EXPECT_TRUE(lab.backend.find(path)->enabled) << path;
  }
  EXPECT_EQ(lab.backend.find("training/form")->value, "Changes apply at once");
  show(make_scene(Page::Training, Scene::Done));
  EXPECT_EQ(lab.backend.find("training/form")->value, "");
}

TEST_F(TrainingPage, TheFormFitsASmallWindow) {
  ImGui::GetIO().DisplaySize.y = 720;
  for (const int devices : {1, 2, 4}) {
    lab.open(Page::Training);
    lab.show(ui::Model(machine_of(devices)));
    lab.view.forms.training.devices.assign(static_cast<std::size_t>(devices), true);
    lab.frames(6);
    EXPECT_EQ(lab.backend.find("training/form")->max.y, lab.backend.find("training/nothing")->max.y)
        << devices << " devices: both end where the page does";
  }
}

TEST_F(TrainingPage, TheFormFitsASmallWindowDuringARunAndBeforeALongOne) {
  ImGui::GetIO().DisplaySize.y = 720;
  ui::Model model(machine_of(4));
  lab.view.forms.training.devices.assign(4, true);
  show(model);
  lab.frames(6);
  const float end = lab.backend.find("training/nothing")->max.y;
  const StartTraining request = to_command(lab.view.forms.training, model.machine());
  model.apply(event(1, 1, TrainingRate{request, 500, 2000}));
  model.apply(event(1, 2, JobStarted{"Training", request}));
  model.apply(event(1, 3, training_started(true)));
  lab.show(model);
  lab.frames(6);
  EXPECT_TRUE(lab.visible("training/stop_after_epoch"));
  EXPECT_EQ(lab.backend.find("training/form")->max.y, end);
  model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  lab.show(std::move(model));
  lab.frames(6);
  EXPECT_TRUE(lab.visible("training/two_minutes"));
  EXPECT_EQ(lab.backend.find("training/form")->max.y, end);
}

TEST_F(TrainingPage, AnEmptyPageSaysHowLongTheTrainingTakes) {
  ui::Model model(machine_of(1));
  show(model);
  const auto said = [&] { return lab.backend.find("training/empty/sentence")->label; };
  EXPECT_EQ(said().find("With these settings"), std::string::npos) << "nothing is known";
  model.apply(event(1, 1, JobStarted{"Tour", StartTour{}}));
  model.apply(event(1, 2, tour_figure(cpu(0), TourQuestion::Training)));
  model.apply(event(1, 3, JobFinished{Outcome::Done, 1, ""}));
  show(std::move(model));
  EXPECT_NE(said().find("With these settings it takes about 66 s on cpu:0."), std::string::npos)
      << said();
}

TEST_F(TrainingPage, ALongNameOfARunIsWrapped) {
  ui::Model model(machine_of(1));
  for (const JobId job : {1, 2}) train(model, job);
  show(std::move(model));
  lab.view.forms.training.runs[1].name = "short";
  lab.view.forms.training.runs[2].name = "a name with more words than one line of the list has";
  lab.frames(3);
  const auto height = [&](const char* path) {
    const WidgetRect& name = *lab.backend.find(path);
    return name.max.y - name.min.y;
  };
  EXPECT_GT(height("training/runs/2/rename"), 1.5F * height("training/runs/1/rename"));
  EXPECT_GT(lab.backend.find("training/runs/1")->min.y, lab.backend.find("training/runs/2")->max.y);
}

TEST_F(TrainingPage, UndoBringsBackEveryRemovedRun) {
  ui::Model model(machine_of(1));
  for (const JobId job : {1, 2, 3}) train(model, job);
  show(std::move(model));
  EXPECT_EQ(tip_of("training/runs/1/delete"),
            "Deletes the run. Its file is removed when a training starts or the window closes.");
  lab.click("training/runs/1/delete");
  lab.click("training/runs/2/delete");
  EXPECT_FALSE(lab.visible("training/runs/1") || lab.visible("training/runs/2"));
  lab.click("training/runs/undo");
  EXPECT_TRUE(lab.visible("training/runs/2"));
  lab.click("training/runs/undo");
  EXPECT_TRUE(lab.visible("training/runs/1"));
  EXPECT_FALSE(lab.visible("training/runs/undo"));
}

TEST_F(TrainingPage, AHiddenNewestRunMarksNoChanges) {
  ui::Model model(machine_of(1));
  for (const JobId job : {1, 2}) train(model, job);
  model.apply(event(3, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(3, 2, training_started(true)));
  for (int step = 1; step <= 10; ++step) model.apply(event(3, 3, step_done(step)));
  model.apply(event(3, 4, TrainingChanged{5, 0.1, "lr", "0.9", "0.3", 2350}));
  show(std::move(model));
  EXPECT_TRUE(lab.visible("training/plot/loss/mark/0"));
  lab.click("training/runs/3/show");
  EXPECT_FALSE(lab.visible("training/plot/loss/mark/0"));
  lab.click("training/runs/3/show");
  EXPECT_TRUE(lab.visible("training/plot/loss/mark/0"));
}

TEST_F(TrainingPage, ShowsTheBatchByDeviceAndTheFirstLayer) {
  StartTraining request;
  request.insight = true;
  request.devices = {cpu(0), cpu(1)};
  TrainingStarted started = training_started(false);
  started.request = request;
  Insight insight{.step = 7,
                  .batch = {},
                  .units = 6,
                  .width = 5,
                  .height = 5,
                  .weights = {},
                  .weights_step = 7};
  for (int i = 0; i < 24; ++i) insight.batch.push_back({.label = i % 10, .device = i / 12});
  insight.weights.assign(6 * 25, 0.5F);
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Training", request}));
  model.apply(event(1, 2, started));
  model.apply(event(1, 3, step_done(1)));
  ImGui::GetIO().DisplaySize.y = 4000;
  show(std::move(model));
  EXPECT_TRUE(lab.visible("training/insight"));
  EXPECT_FALSE(lab.visible("training/insight/batch/0"));
  lab.model.apply(event(1, 4, insight));
  lab.frames(4);
  EXPECT_EQ(lab.backend.find("training/insight/batch/0")->label, "cpu:0");
  EXPECT_EQ(lab.backend.find("training/insight/batch/1")->label, "cpu:1");
  EXPECT_EQ(lab.backend.find("training/insight/weights")->label, "6");
  insight.weights.clear();  // as on a GPU before its first epoch ends
  lab.model.apply(event(1, 5, insight));
  lab.frames(4);
  EXPECT_FALSE(lab.visible("training/insight/weights"));
}

// A run of an earlier session, which was recorded with a timeline and a profile and has diverged.
ui::TrainingRun restored_run() {
  StartTraining request;
  request.timeline = request.profile = true;
  request.devices = {cpu()};
  ui::TrainingRun run(-1, request);
  TrainingStarted started = training_started(true);
  started.request = request;
  run.add(started);
  StepDone step = step_done(1);
  step.loss = 1e10;
  run.add(step);
  run.add(epoch_done(1));
  return run;
}

TEST_F(TrainingPage, MissingDataAreSaidBeforehand) {
  ui::Model model(machine_of(1));
  model.set_fashion_found(false);
  show(std::move(model));
  EXPECT_FALSE(lab.visible("training/data_missing")) << "synthetic data need no files";
  lab.view.forms.training.request.data = DataSource::FashionMnist;
  lab.frames(3);
  EXPECT_TRUE(lab.visible("training/data_missing"));
  EXPECT_FALSE(lab.backend.find("training/start")->enabled);
  EXPECT_FALSE(lab.visible("training/probe"));
  lab.click("training/download");
  EXPECT_EQ(lab.sent<FetchData>().size(), 1U);
  lab.view.sent_after = -1;
  lab.click("training/use_synthetic");
  EXPECT_FALSE(lab.visible("training/data_missing"));
  EXPECT_TRUE(lab.backend.find("training/start")->enabled);
}

TEST_F(TrainingPage, ADownloadShowsItsProgress) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Download of Fashion-MNIST", FetchData{}}));
  model.apply(event(1, 2, Progress{.done = 0.5, .what = "train-images, 12 MiB", .left_s = {}}));
  show(std::move(model));
  EXPECT_EQ(lab.backend.find("training/progress_text")->label, "train-images, 12 MiB");
  lab.click("training/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1U);
}

TEST_F(TrainingPage, NotesAreBelowTheLoss) {
  EpochDone epoch = epoch_done(1);
  epoch.test_acc = 0.1;
  ui::Model model = after_an_epoch(epoch);
  show(model);
  const float before = lab.backend.find("training/loss")->min.y;
  model.apply(event(1, 5, JobFinished{Outcome::Done, 1, ""}));
  show(std::move(model));
  EXPECT_EQ(lab.backend.find("training/loss")->min.y, before);
  EXPECT_GE(lab.backend.find("training/advice")->min.y, lab.backend.find("training/loss")->max.y);
}

TEST_F(TrainingPage, TheLossAxisFollowsTheAverages) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  StepDone step = step_done(1);
  step.loss = 1e5;
  model.apply(event(1, 3, step));
  model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  train(model, 2, 40);
  show(std::move(model));
  const std::string range = lab.backend.find("training/plot/loss")->value;
  EXPECT_LT(std::stod(range.substr(range.rfind("..") + 2)), 3) << range;
}

TEST_F(TrainingPage, SaysWhichClassesAreConfusedMost) {
  ui::Model model = after_an_epoch(epoch_done(1));
  Confusion confusion{.epoch = 1, .classes = 10, .counts = std::vector<std::int64_t>(100)};
  for (std::size_t i = 0; i < 10; ++i) confusion.counts[11 * i] = 1000;
  confusion.counts[66] = 610;
  confusion.counts[62] = 390;
  model.apply(event(1, 5, confusion));
  ImGui::GetIO().DisplaySize.y = 4000;
  show(std::move(model));
  for (const char* path : {"training/confusion_sentence", "training/accuracy/confused"}) {
    EXPECT_EQ(lab.backend.find(path)->label,
              "Most confused: Shirt is mistaken for Pullover in 390 of 1000 images.");
  }
}

TEST_F(TrainingPage, AFigureSaysWhenItWillBeKnown) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  model.apply(event(1, 3, step_done(1)));
  show(std::move(model));
  EXPECT_EQ(lab.backend.find("training/figure/test_acc")->value, "after epoch 1");
}

TEST_F(TrainingPage, ARestoredRunHasItsDate) {
  ui::TrainingRun run = restored_run();
  run.set_ended_at(1'700'000'000);
  ui::Model model(machine_of(1));
  model.restore_runs({std::move(run)});
  show(std::move(model));
  EXPECT_TRUE(lab.backend.find("training/runs/-1")->value.starts_with("2023-11-1"))
      << lab.backend.find("training/runs/-1")->value;
}

TEST_F(TrainingPage, SaysWhatARestoredRunHasNotKept) {
  ui::Model model(machine_of(1));
  model.restore_runs({restored_run()});
  ImGui::GetIO().DisplaySize.y = 4000;
  show(std::move(model));
  for (const char* path : {"training/lanes", "training/layers", "training/confusion_card"}) {
    EXPECT_TRUE(lab.visible(path)) << path;
    EXPECT_TRUE(lab.visible(std::string(path) + "/not_kept")) << path;
  }
  EXPECT_FALSE(lab.visible("training/diverged")) << "of an earlier session";
}

TEST(TrainingPredictions, SayThatTheNetworkPredictsOneClass) {
  Lab lab(make_scene(Page::Training, Scene::Done), 1, {1280, 6000});
  lab.open(Page::Training);
  EXPECT_FALSE(lab.visible("training/one_class"));
  Confusion one = confusion();
  for (std::size_t i = 0; i < one.counts.size(); ++i)
    one.counts[i] = i % 10 == 4 ? 95 : i % 10 == 5 ? 5 : 0;
  ui::Model model(machine_of(2));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  model.apply(event(1, 3, step_done(1)));
  model.apply(event(1, 4, predictions(48)));
  model.apply(event(1, 4, one));
  lab.show(std::move(model));
  const WidgetRect* said = lab.backend.find("training/one_class");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(said->label.find(" for 95 % of the test images."), std::string::npos) << said->label;
}

TEST(TrainingOrder, AccuracyIsBelowTheLoss) {
  Lab lab(make_many_devices({.devices = 2}, Scene::Done), 1, {1280, 6000});
  lab.open(Page::Training);
  EXPECT_LT(lab.backend.find("training/accuracy")->min.y,
            lab.backend.find("training/devices")->min.y);
}

}  // namespace
}  // namespace lab::test
