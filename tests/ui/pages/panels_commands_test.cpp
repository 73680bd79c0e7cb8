// Commands that clicks and keys produce.
#include <gtest/gtest.h>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

class PanelCommands : public ::testing::Test {
 protected:
  Lab lab{make_scene(Page::Devices, Scene::Empty), 1, {1280, 1000}};
};

TEST_F(PanelCommands, RailOpensEachPage) {
  lab.frames(3);
  for (const char* path : {"rail/log", "rail/training", "rail/matmul", "rail/transfers",
                           "rail/memory", "rail/devices", "rail/learn", "rail/tour"}) {
    lab.click(path);
    EXPECT_STREQ(path, (std::string("rail/") + save_view(lab.view).at("page")).c_str());
  }
  EXPECT_TRUE(lab.out.empty());
}

TEST_F(PanelCommands, RepeatedClicksSendOneLadder) {
  lab.open(Page::Matmul);
  lab.view.forms.matmul.sizes = "64..256";
  lab.view.forms.matmul.request.seed = 7;
  lab.click("matmul/run");
  lab.click("matmul/run");
  const auto sent = lab.sent<StartMatmul>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].sizes, (std::vector<std::int64_t>{64, 128, 256}));
  EXPECT_EQ(sent[0].seed, 7u);
  EXPECT_FALSE(sent[0].live);
  EXPECT_TRUE(sent[0].devices.empty());
}

TEST_F(PanelCommands, LiveRunIsMarkedInTheRequest) {
  lab.open(Page::Matmul);
  lab.click("matmul/tab/Live");
  lab.click("matmul/live");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1u);
  EXPECT_TRUE(lab.sent<StartMatmul>()[0].live);
}

TEST_F(PanelCommands, TickedKernelsAreSent) {
  lab.open(Page::Matmul);
  lab.click("matmul/which/Choose");
  EXPECT_FALSE(lab.visible("matmul/kernels_error")) << "it starts with every kernel";
  EXPECT_EQ(lab.backend.find("matmul/kernel/simd")->value, "on");
  lab.view.forms.matmul.chosen.clear();
  lab.frames(2);
  EXPECT_TRUE(lab.visible("matmul/kernels_error"));
  lab.click("matmul/kernel/simd");
  lab.click("matmul/run");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1u);
  EXPECT_EQ(lab.sent<StartMatmul>()[0].kernels, std::vector<std::string>{"simd"});
}

TEST_F(PanelCommands, TransferSweepIsSent) {
  lab.open(Page::Transfers);
  lab.click("transfers/op/read");
  lab.click("transfers/run");
  const auto sent = lab.sent<StartTransfers>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].ops,
            (std::vector<TransferOp>{TransferOp::Write, TransferOp::Copy, TransferOp::Triad}));
  EXPECT_EQ(sent[0].sizes_bytes.back(), kGiB);
}

TEST_F(PanelCommands, InvalidSizesAreExplainedAndNotSent) {
  lab.open(Page::Transfers);
  lab.view.forms.transfers.sizes = "many";
  lab.frames(3);
  ASSERT_TRUE(lab.visible("transfers/sizes/error"));
  EXPECT_NE(lab.backend.find("transfers/sizes/error")->label.find("many"), std::string::npos);
  lab.click("transfers/run");
  EXPECT_FALSE(lab.backend.find("transfers/empty")->enabled);
  EXPECT_EQ(lab.backend.find("transfers/empty/sentence")->label.find("many"), std::string::npos)
      << "the field says it";
  EXPECT_TRUE(lab.out.empty());
}

TEST_F(PanelCommands, EmptyPageOffersAJob) {
  lab.open(Page::Training);
  lab.click("training/empty");
  EXPECT_EQ(lab.sent<StartTraining>().size(), 1u);
}

TEST_F(PanelCommands, TensorCommandsAreSent) {
  lab.open(Page::Memory);
  lab.click("memory/make");
  ASSERT_EQ(lab.sent<MakeTensor>().size(), 1u);
  EXPECT_EQ(lab.sent<MakeTensor>()[0].shape, (std::vector<std::int64_t>{1024, 1024}));
  lab.show(make_scene(Page::Memory, Scene::Done));
  lab.click("memory/select/1");
  lab.click("memory/select/2");
  lab.click("memory/add");
  ASSERT_EQ(lab.sent<AddTensors>().size(), 1u);
  EXPECT_EQ(lab.sent<AddTensors>()[0].a, 1);
  EXPECT_EQ(lab.sent<AddTensors>()[0].b, 2);
  lab.view.sent_after = -1;
  lab.click("memory/copy/3");
  ASSERT_EQ(lab.sent<CopyTensor>().size(), 1u);
  EXPECT_EQ(lab.sent<CopyTensor>()[0].id, 3);
  lab.view.sent_after = -1;
  lab.click("memory/free/5");
  ASSERT_EQ(lab.sent<FreeTensor>().size(), 1u);
  EXPECT_EQ(lab.sent<FreeTensor>()[0].id, 5);
  EXPECT_FALSE(lab.visible("memory/free/4")) << "held by a job";
}

TEST_F(PanelCommands, StatementsAreSentOrExplained) {
  lab.open(Page::Memory);
  ui::MemoryForm& form = lab.view.forms.memory;
  lab.click("memory/run_statement");
  EXPECT_TRUE(lab.out.empty()) << "there is no statement";
  form.statement = "X = ones(2";
  lab.frames(3);
  lab.click("memory/run_statement");
  EXPECT_TRUE(lab.sent<RunTensorCode>().empty());
  EXPECT_EQ(lab.sent<NoteUnreadable>().size(), 1u);
  form.statement = "X = ones(2, 3)";
  lab.frames(3);
  lab.click("memory/run_statement");
  ASSERT_EQ(lab.sent<RunTensorCode>().size(), 1u);
  EXPECT_EQ(lab.sent<RunTensorCode>()[0].statements.front().text, "X = ones(2, 3)");
}

TEST_F(PanelCommands, TypedValuesReplaceTheShape) {
  lab.open(Page::Memory);
  ui::MemoryForm& form = lab.view.forms.memory;
  form.fill = static_cast<int>(Fill::Values);
  form.values = "[[1, 2, 3]]";
  lab.frames(3);
  EXPECT_FALSE(lab.visible("memory/shape"));
  lab.click("memory/make");
  ASSERT_EQ(lab.sent<MakeTensor>().size(), 1u);
  EXPECT_EQ(lab.sent<MakeTensor>()[0].shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(lab.sent<MakeTensor>()[0].values, (std::vector<double>{1, 2, 3}));
  form.values = "[[1, 2], [3]]";
  lab.frames(3);
  EXPECT_TRUE(lab.visible("memory/form_error"));
}

TEST_F(PanelCommands, TrainingStartsWithTheBooksDefaults) {
  lab.open(Page::Training);
  lab.click("training/start");
  const auto sent = lab.sent<StartTraining>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].model, "lenet");
  EXPECT_EQ(*sent[0].lr, 0.9);
  EXPECT_EQ(sent[0].batch, 256);
  EXPECT_EQ(sent[0].epochs, 10);
}

TEST_F(PanelCommands, TrainingUsesTheTickedDevices) {
  lab.open(Page::Training);
  EXPECT_FALSE(lab.visible("training/division/Auto")) << "one device has nothing to divide";
  lab.click("training/device/cpu:0");
  lab.click("training/device/cpu:1");
  lab.click("training/division/Auto");
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  const StartTraining sent = lab.sent<StartTraining>()[0];
  EXPECT_EQ(sent.devices, (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_EQ(sent.share_policy, SharePolicy::Auto);
}

TEST_F(PanelCommands, InvalidSharesAreExplainedAtTheField) {
  lab.open(Page::Training);
  lab.view.forms.training.devices = {true, true};
  lab.frames(2);
  lab.click("training/division/By list");
  lab.view.forms.training.shares = "0.7";
  lab.frames(3);
  ASSERT_TRUE(lab.visible("training/shares_error"));
  EXPECT_EQ(lab.backend.find("training/shares_error")->label,
            "1 share (0.7) for 2 devices; give one per device");
  EXPECT_FALSE(lab.visible("training/form_error")) << "shown once";
  lab.click("training/start");
  EXPECT_TRUE(lab.out.empty());
  lab.view.forms.training.shares = "0.7, 0.3";
  lab.frames(3);
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  EXPECT_EQ(lab.sent<StartTraining>()[0].shares, (std::vector<double>{0.7, 0.3}));
}

TEST_F(PanelCommands, LargerBatchOffersAScaledRate) {
  lab.open(Page::Training);
  lab.click("training/more");
  EXPECT_EQ(lab.backend.find("training/larger_batch")->label, "Twice the batch, twice the rate?");
  lab.click("training/larger_batch");
  EXPECT_TRUE(lab.visible("training/pitfall"));
  lab.click("training/lr_scale/Linear");
  lab.view.forms.training.request.warmup_epochs = 2;
  lab.view.forms.training.more = false;
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("training/larger_batch")->label, "Linear, warm-up 2 epochs");
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  EXPECT_EQ(lab.sent<StartTraining>()[0].lr_scale, LrScale::Linear);
  EXPECT_EQ(lab.sent<StartTraining>()[0].warmup_epochs, 2);
}

TEST_F(PanelCommands, ChapterRunFillsTheForm) {
  lab.open(Page::Training);
  lab.click("training/preset");
  lab.click("training/preset/Two GPUs: batch 512, lr 0.2");
  EXPECT_EQ(lab.backend.find("training/preset")->value, "Two GPUs: batch 512, lr 0.2");
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  const StartTraining sent = lab.sent<StartTraining>()[0];
  EXPECT_EQ(sent.model, "resnet18");
  EXPECT_EQ(sent.batch, 512);
  EXPECT_EQ(*sent.lr, 0.2);
  EXPECT_EQ(sent.devices, (std::vector<Device>{cpu(0), cpu(1)}));
}

TEST_F(PanelCommands, FastPresetFillsTheForm) {
  lab.open(Page::Training);
  lab.click("training/preset");
  lab.click("training/preset/Fast: 0.91 in seconds");
  EXPECT_EQ(lab.backend.find("training/preset")->value, "Fast: 0.91 in seconds");
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  const StartTraining sent = lab.sent<StartTraining>()[0];
  EXPECT_EQ(sent.model, "convnet");
  EXPECT_EQ(sent.schedule, LrSchedule::Linear);
  EXPECT_EQ(sent.label_smoothing, 0.1);
  EXPECT_GT(sent.warmup_epochs, 0);
}

TEST_F(PanelCommands, CheckpointsAreUnderMoreSettings) {
  lab.open(Page::Training);
  lab.scroll_to_and_click("training/more");
  lab.scroll_to_and_click("training/checkpoint_dir");
  lab.type("kept");
  lab.press(GLFW_KEY_ENTER);
  EXPECT_EQ(lab.view.forms.training.request.checkpoint_dir, "kept");
  lab.scroll_to_and_click("training/resume_dir");
  lab.type("before");
  lab.press(GLFW_KEY_ENTER);
  lab.view.forms.training.request.checkpoint_every = 50;
  lab.scroll(1000);
  lab.scroll_to_and_click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  EXPECT_EQ(lab.sent<StartTraining>()[0].checkpoint_dir, "kept");
  EXPECT_EQ(lab.sent<StartTraining>()[0].checkpoint_every, 50);
  EXPECT_EQ(lab.sent<StartTraining>()[0].resume_dir, "before");
}

TEST_F(PanelCommands, WeightFilesAreUnderMoreSettings) {
  lab.open(Page::Training);
  lab.view.forms.training.more = true;
  lab.scroll_to_and_click("training/init_file");
  lab.type("first.safetensors");
  lab.press(GLFW_KEY_ENTER);
  lab.scroll_to_and_click("training/save_file");
  lab.type("last.safetensors");
  lab.press(GLFW_KEY_ENTER);
  lab.view.forms.training.request.resume_dir = "before";
  lab.scroll(1000);
  lab.frames(3);
  EXPECT_TRUE(lab.visible("training/form_error")) << "two sources of weights";
  lab.view.forms.training.request.resume_dir.clear();
  lab.frames(3);
  lab.scroll_to_and_click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1u);
  EXPECT_EQ(lab.sent<StartTraining>()[0].init_file, "first.safetensors");
  EXPECT_EQ(lab.sent<StartTraining>()[0].save_file, "last.safetensors");
}

TEST_F(PanelCommands, TrainingOffersAWidthForResnetOnly) {
  lab.open(Page::Training);
  EXPECT_FALSE(lab.visible("training/width"));
  lab.view.forms.training.request.model = "resnet18";
  lab.frames(2);
  EXPECT_TRUE(lab.visible("training/width"));
}

TEST(SmallWindow, TrainingFoldsItsSettings) {
  Lab lab(make_scene(Page::Training, Scene::Empty), 2, {1280, 720});
  lab.open(Page::Training);
  EXPECT_TRUE(lab.visible("training/empty"));
  lab.click("training/settings");
  EXPECT_TRUE(lab.visible("training/model"));
  lab.click("training/start");
  lab.show(make_scene(Page::Training, Scene::Running));
  EXPECT_FALSE(lab.visible("training/model"));
  EXPECT_TRUE(lab.visible("training/figure/loss"));
  EXPECT_EQ(lab.backend.find("training/settings")->label,
            "LeNet, Synthetic, batch 256, lr 0.9, 10 epochs, cpu:0");
  lab.click("training/settings");
  EXPECT_TRUE(lab.visible("training/model"));
  lab.click("training/settings");
  EXPECT_FALSE(lab.visible("training/model"));
}

TEST(SmallWindow, OtherFormsFoldTheirSettings) {
  struct Form {
    Page page;
    std::string name, field, folded;
  };
  for (const Form& form :
       {Form{Page::Matmul, "matmul", "matmul/sizes", "every device, N = 64..4096, f32"},
        Form{Page::Transfers, "transfers", "transfers/sizes", "1 KiB..1 GiB, Warm"},
        Form{Page::Scaling, "scaling", "scaling/batch", "LeNet, Synthetic, batch 256"}}) {
    SCOPED_TRACE(form.name);
    Lab lab(make_scene(form.page, Scene::Empty), 2, {1280, 720});
    lab.open(form.page);
    EXPECT_FALSE(lab.visible(form.field));
    EXPECT_TRUE(lab.visible(form.name + "/empty"));
    lab.click(form.name + "/settings");
    EXPECT_TRUE(lab.visible(form.field));
    lab.click(form.name + "/run");
    lab.show(make_scene(form.page, Scene::Done));
    EXPECT_FALSE(lab.visible(form.field));
    EXPECT_EQ(lab.backend.find(form.name + "/settings")->label, form.folded);
    lab.click(form.name + "/settings");
    EXPECT_TRUE(lab.visible(form.field));
    lab.model.apply(event(7, 900, JobStarted{"again", lab.model.state(form.page).command.value()}));
    lab.frames(2);
    EXPECT_FALSE(lab.visible(form.field)) << "a new job shows its results again";
  }
}

TEST_F(PanelCommands, ModelSetsItsLearningRate) {
  lab.open(Page::Training);
  lab.click("training/model");
  lab.click("training/model/MLP");
  EXPECT_EQ(lab.view.forms.training.request.model, "mlp");
  EXPECT_EQ(lab.view.forms.training.request.lr, 0.1);
}

TEST_F(PanelCommands, TrainingIsPausedResumedAndStopped) {
  lab.open(Page::Training);
  lab.show(make_scene(Page::Training, Scene::Running));
  lab.click("training/pause");
  EXPECT_EQ(lab.sent<PauseJob>().size(), 1u);
  EXPECT_EQ(lab.backend.find("training/pause")->label, "Resume");
  lab.click("status/pause");
  EXPECT_EQ(lab.sent<ResumeJob>().size(), 1u);
  lab.click("training/stop_after_epoch");
  lab.click("training/stop_after_epoch");
  EXPECT_EQ(lab.sent<StopAfterEpoch>().size(), 1u);
  lab.click("training/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1u);
}

TEST_F(PanelCommands, RunningTrainingTakesOverItsLearningRate) {
  lab.open(Page::Training);
  lab.show(make_scene(Page::Training, Scene::Running));
  EXPECT_FALSE(lab.backend.find("training/model")->enabled);
  EXPECT_FALSE(lab.backend.find("training/batch")->enabled);
  EXPECT_TRUE(lab.backend.find("training/lr")->enabled);
  lab.click("training/model");
  EXPECT_FALSE(lab.visible("training/model/MLP")) << "its list opened";
  lab.click("training/batch/more");
  EXPECT_EQ(lab.view.forms.training.request.batch, 256);
  lab.click("training/lr");
  lab.type("0.05");
  EXPECT_TRUE(lab.sent<ChangeTraining>().empty()) << "sent while it was typed";
  lab.press(GLFW_KEY_ENTER);
  lab.frames(3);
  const auto sent = lab.sent<ChangeTraining>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].lr, 0.05);
  EXPECT_FALSE(sent[0].epochs);
  lab.click("training/epochs/more");
  ASSERT_EQ(lab.sent<ChangeTraining>().size(), 2u);
  EXPECT_EQ(lab.sent<ChangeTraining>()[1].epochs, 11);
  EXPECT_FALSE(lab.sent<ChangeTraining>()[1].lr);
}

TEST_F(PanelCommands, LockedFieldSaysWhy) {
  lab.open(Page::Training);
  lab.show(make_scene(Page::Training, Scene::Running));
  lab.backend.move_to(NullBackend::centre(*lab.backend.find("training/model")));
  lab.frames(60);
  ASSERT_TRUE(lab.visible("tooltip"));
  EXPECT_NE(lab.backend.find("tooltip")->value.find("Locked"), std::string::npos);
}

TEST_F(PanelCommands, EditsBeforeATrainingAreNotSentToIt) {
  lab.open(Page::Training);
  lab.click("training/epochs/more");
  lab.show(make_scene(Page::Training, Scene::Running));
  EXPECT_TRUE(lab.sent<ChangeTraining>().empty());
}

TEST_F(PanelCommands, ChangeIsMarkedOnTheCurveAndLogged) {
  ui::Model model = make_scene(Page::Training, Scene::Running);
  model.apply(event(1, 90, TrainingChanged{350, 1.5, "lr", "0.9", "0.3", 2350}));
  lab.open(Page::Training);
  lab.show(std::move(model));
  ASSERT_TRUE(lab.visible("training/plot/loss/mark/0"));
  EXPECT_EQ(lab.backend.find("training/plot/loss/mark/0")->label, "learning rate 0.9 → 0.3");
  EXPECT_EQ(lab.model.log().back().text, "After step 350: learning rate 0.9 → 0.3");
}

TEST_F(PanelCommands, StopInTheStatusBarCancels) {
  lab.show(make_scene(Page::Matmul, Scene::Running));
  lab.click("status/cancel");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1u);
}

TEST_F(PanelCommands, RetrySendsTheSameRequest) {
  ui::Model model(machine_of(1));
  StartMatmul request;
  request.sizes = {96};
  model.apply(event(1, 1, JobStarted{"Matmul", request}));
  model.apply(event(1, 2, JobFinished{Outcome::Failed, 1, "it failed"}));
  lab.open(Page::Matmul);
  lab.show(std::move(model));
  lab.click("matmul/retry");
  ASSERT_EQ(lab.sent<StartMatmul>().size(), 1u);
  EXPECT_EQ(lab.sent<StartMatmul>()[0].sizes, std::vector<std::int64_t>{96});
}

TEST_F(PanelCommands, EscapeConfirmsBeforeCancelling) {
  lab.show(make_scene(Page::Matmul, Scene::Running));
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  EXPECT_TRUE(lab.visible("confirm/stop"));
  EXPECT_TRUE(lab.out.empty());
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("confirm/stop"));
  EXPECT_TRUE(lab.out.empty());
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  lab.click("confirm/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1u);
  EXPECT_FALSE(lab.visible("confirm/stop"));
}

TEST_F(PanelCommands, EscapeClosesAnOpenListOnly) {
  lab.show(make_scene(Page::Matmul, Scene::Running));
  lab.open(Page::Training);
  lab.click("training/model");
  lab.frames(2);
  ASSERT_TRUE(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  EXPECT_FALSE(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
  EXPECT_FALSE(lab.visible("confirm/stop"));
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  EXPECT_TRUE(lab.visible("confirm/stop"));
}

TEST_F(PanelCommands, EnterInTheDialogOfEscapeStopsNothing) {
  lab.show(make_scene(Page::Matmul, Scene::Running));
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("confirm/text")->label,
            "Running: " + lab.model.job()->title + ". Results measured so far are kept.");
  lab.press(GLFW_KEY_ENTER);
  lab.frames(3);
  EXPECT_TRUE(lab.sent<CancelJob>().empty());
  EXPECT_FALSE(lab.visible("confirm/stop")) << "Enter keeps the job running";
}

TEST_F(PanelCommands, TheRemainingTimeIsInWholeSeconds) {
  lab.model.apply(event(1, 1, JobStarted{"Matmul", StartMatmul{}}));
  const auto said = [&](double left_s) {
    lab.model.apply(event(1, 2, Progress{.done = 0.5, .what = "", .left_s = left_s}));
    lab.frames(3);
    return lab.backend.find("status/left")->label;
  };
  EXPECT_EQ(said(16.2), "50 %, about 16 s left");
  EXPECT_EQ(said(0.992), "50 %, less than 1 s left");
}

TEST_F(PanelCommands, AFailureLeavesTheStatusBarWithItsPage) {
  const auto fail = [&](JobId job) {
    lab.model.apply(event(job, 1, JobStarted{"Matmul", StartMatmul{}}));
    lab.model.apply(event(job, 2, JobFinished{Outcome::Failed, 1, "it failed"}));
    lab.frames(3);
    return lab.backend.find("status/job")->label;
  };
  lab.open(Page::Matmul);
  EXPECT_EQ(fail(1), "Matmul failed: it failed");
  lab.click("status/dismiss");
  EXPECT_EQ(lab.backend.find("status/job")->label, "Ready");
  EXPECT_FALSE(lab.visible("status/dismiss"));
  EXPECT_EQ(fail(2), "Matmul failed: it failed");
  lab.open(Page::Devices);
  EXPECT_EQ(lab.backend.find("status/job")->label, "Ready");
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("status/job")->label, "Ready");
}

TEST_F(PanelCommands, TheStatusBarSaysOnceWhatAJobDid) {
  const auto said = [&](JobId job, const JobCommand& command, const Payload& result) {
    lab.model.apply(event(job, 1, JobStarted{"Job", command}));
    lab.model.apply(event(job, 2, result));
    lab.model.apply(event(job, 3, JobFinished{Outcome::Done, 1, ""}));
    lab.frames(3);
    return lab.backend.find("status/job")->label;
  };
  EXPECT_EQ(said(1, MakeTensor{}, LogLine{Severity::Info, "Created big on cpu:0 (16.0 MiB)"}),
            "Created big on cpu:0 (16.0 MiB)");
  TourFigure figure = tour_figure(cpu(), TourQuestion::Training);
  EXPECT_EQ(said(2, StartTour{}, figure), "Job done");
  figure.unstable = true;
  EXPECT_EQ(said(3, StartTour{}, figure), "Job done, 1 figure unsteady");
}

TEST_F(PanelCommands, ASuccessLeavesTheStatusBarWithItsPage) {
  const auto finish = [&](JobId job) {
    lab.model.apply(event(job, 1, JobStarted{"Matmul", StartMatmul{}}));
    lab.model.apply(event(job, 2, JobFinished{Outcome::Done, 1, ""}));
    lab.frames(3);
    return lab.backend.find("status/job")->label;
  };
  lab.open(Page::Matmul);
  EXPECT_EQ(finish(1), "Matmul done");
  lab.click("status/dismiss");
  EXPECT_EQ(lab.backend.find("status/job")->label, "Ready");
  EXPECT_EQ(finish(2), "Matmul done");
  lab.open(Page::Devices);
  EXPECT_EQ(lab.backend.find("status/job")->label, "Ready");
}

TEST_F(PanelCommands, AnEmptyPageAsksBeforeItStopsAnothersJob) {
  lab.show(make_scene(Page::Matmul, Scene::Running));
  lab.open(Page::Transfers);
  const ui::WidgetRect* own = lab.backend.find("transfers/empty");
  EXPECT_EQ(own->label, "Run sweep") << "the action of the page, not that of another";
  EXPECT_FALSE(own->enabled);
  EXPECT_EQ(lab.backend.find("transfers/empty/stop")->label, "Stop: " + lab.model.job()->title);
  lab.click("transfers/empty/stop");
  EXPECT_TRUE(lab.out.empty());
  lab.click("confirm/keep");
  EXPECT_TRUE(lab.out.empty());
  lab.click("transfers/empty/stop");
  lab.click("confirm/stop");
  EXPECT_EQ(lab.sent<CancelJob>().size(), 1u);
}

TEST_F(PanelCommands, EscapeWithoutAJobDoesNothing) {
  lab.frames(3);
  lab.press(GLFW_KEY_ESCAPE);
  EXPECT_FALSE(lab.view.confirm_cancel);
}

TEST_F(PanelCommands, ControlEnterStartsThePagesJob) {
  lab.open(Page::Matmul);
  lab.press(GLFW_KEY_ENTER, true);
  EXPECT_EQ(lab.sent<StartMatmul>().size(), 1u);
}

TEST_F(PanelCommands, SpacePausesTheTraining) {
  lab.open(Page::Training);
  lab.show(make_scene(Page::Training, Scene::Running));
  lab.press(GLFW_KEY_SPACE);
  EXPECT_EQ(lab.sent<PauseJob>().size(), 1u);
}

TEST_F(PanelCommands, KeysOpenPagesAndChangeThemeAndScale) {
  lab.frames(3);
  lab.press('6', true);
  EXPECT_EQ(lab.view.page, Page::Matmul);
  lab.press('9', true);
  EXPECT_EQ(lab.view.page, Page::Log);
  lab.press('1', true);
  EXPECT_EQ(lab.view.page, Page::Tour);
  lab.press('T', true);
  EXPECT_EQ(lab.view.mode, ui::ThemeMode::Light);
  for (int i = 0; i < 9; ++i) lab.press('=', true);
  EXPECT_EQ(lab.view.scale, 2);
  for (int i = 0; i < 9; ++i) lab.press('-', true);
  EXPECT_EQ(lab.view.scale, 1);
}

TEST_F(PanelCommands, HelpOpensAndCloses) {
  lab.frames(3);
  lab.click("rail/help");
  ASSERT_TRUE(lab.visible("help/close"));
  lab.click("help/close");
  EXPECT_FALSE(lab.visible("help/close"));
  lab.type("?");
  lab.frames(3);
  EXPECT_TRUE(lab.visible("help/close"));
}

TEST_F(PanelCommands, HoveringARungHighlightsItsCurve) {
  lab.open(Page::Matmul);
  lab.show(make_scene(Page::Matmul, Scene::Done));
  const ui::WidgetRect* rung = lab.backend.find("matmul/ladder/cpu:0/simd");
  ASSERT_NE(rung, nullptr);
  lab.backend.move_to(NullBackend::centre(*rung));
  lab.frames(2);
  EXPECT_EQ(lab.view.forms.matmul.hovered_kernel, "cpu:0 simd");
}

TEST_F(PanelCommands, RunsCanBeHiddenRenamedAndRemoved) {
  ui::Model model(machine_of(1));
  for (JobId job = 1; job <= 2; ++job) {
    model.apply(event(job, 1, JobStarted{"Training", StartTraining{}}));
    model.apply(event(job, 2, training_started(true)));
    model.apply(event(job, 3, step_done(1)));
    model.apply(event(job, 4, JobFinished{Outcome::Done, 1, ""}));
  }
  lab.open(Page::Training);
  lab.show(std::move(model));
  lab.scroll_to_and_click("training/runs/1/show");
  EXPECT_FALSE(lab.view.forms.training.runs.at(1).shown);
  lab.click("training/runs/1/rename");
  EXPECT_EQ(lab.view.forms.training.renaming, 1);
  EXPECT_TRUE(lab.visible("training/runs/1/name"));
  lab.type("slow start");
  lab.press(GLFW_KEY_ENTER);
  ASSERT_TRUE(lab.visible("training/runs/1/rename")) << "Enter ends the renaming";
  EXPECT_EQ(lab.backend.find("training/runs/1/rename")->label, "slow start");
  lab.click("training/runs/2/delete");
  EXPECT_FALSE(lab.visible("training/runs/2/rename"));
  EXPECT_EQ(lab.backend.find("training/run_name")->label, "slow start")
      << "the newest that is left";
  lab.click("training/runs/1/delete");
  EXPECT_TRUE(lab.visible("training/empty"));
  lab.click("training/runs/undo");
  EXPECT_EQ(lab.backend.find("training/run_name")->label, "slow start");
  EXPECT_TRUE(lab.visible("training/runs/1/rename"));
  EXPECT_FALSE(lab.visible("training/runs/2/rename"));
  lab.click("training/runs/undo");
  EXPECT_TRUE(lab.visible("training/runs/2/rename"));
  EXPECT_FALSE(lab.visible("training/runs/undo"));
}

TEST_F(PanelCommands, ARunInProgressCannotBeDeleted) {
  ui::Model model(machine_of(1));
  model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
  model.apply(event(1, 2, training_started(true)));
  model.apply(event(1, 3, step_done(1)));
  lab.open(Page::Training);
  lab.show(std::move(model));
  EXPECT_TRUE(lab.visible("training/runs/1/rename"));
  EXPECT_FALSE(lab.visible("training/runs/1/delete"));
  lab.model.apply(event(1, 4, JobFinished{Outcome::Done, 1, ""}));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("training/runs/1/delete"));
}

TEST_F(PanelCommands, DivergenceIsSaid) {
  ui::Model model = make_scene(Page::Training, Scene::Running);
  StepDone step = step_done(701);
  step.loss = 1.3e10;
  step.lr = 1e9;
  model.apply(event(1, 91, step));
  step.step = 702;
  model.apply(event(1, 92, step));
  lab.open(Page::Training);
  lab.show(std::move(model));
  ASSERT_TRUE(lab.visible("training/diverged"));
  const std::string said = lab.backend.find("training/diverged")->label;
  EXPECT_EQ(said.substr(0, 22), "Diverged at step 701: ") << said;
  const std::string figure = lab.backend.find("training/figure/loss")->value;
  EXPECT_NE(said.find("the smoothed loss is " + figure), std::string::npos) << said;
  lab.model.apply(event(1, 93, step_done(703)));
  lab.frames(3);
  EXPECT_FALSE(lab.visible("training/diverged")) << "the loss came back";
}

TEST_F(PanelCommands, NumberOutOfRangeIsReplacedAndThatIsSaid) {
  lab.open(Page::Training);
  lab.click("training/batch");
  lab.type("0");
  lab.press(GLFW_KEY_ENTER);
  lab.frames(2);
  EXPECT_EQ(lab.view.forms.training.request.batch, 1);
  ASSERT_TRUE(lab.visible("training/batch/error"));
  const std::string said = lab.backend.find("training/batch/error")->label;
  EXPECT_EQ(said.substr(0, 31), "0 is out of range: set to 1. A ") << said;
}

TEST_F(PanelCommands, RunsShowTheSettingsThatDiffer) {
  ui::Model model(machine_of(1));
  for (JobId job = 1; job <= 2; ++job) {
    StartTraining request;
    request.epochs = job;
    request.seed = 7;
    model.apply(event(job, 1, JobStarted{"Training", request}));
    TrainingStarted started = training_started(true);
    started.request = request;
    model.apply(event(job, 2, started));
    model.apply(event(job, 3, step_done(1)));
    model.apply(event(job, 4, JobFinished{Outcome::Done, 1, ""}));
  }
  lab.open(Page::Training);
  lab.show(std::move(model));
  EXPECT_TRUE(lab.backend.find("training/runs/1")->value.starts_with("epochs 1 · "));
  EXPECT_TRUE(lab.backend.find("training/runs/2")->value.starts_with("epochs 2 · "));
}

TEST_F(PanelCommands, SmoothingFollowsTheSlider) {
  lab.open(Page::Training);
  lab.show(make_scene(Page::Training, Scene::Running));
  const ui::WidgetRect slider = *lab.backend.find("training/smoothing");
  lab.backend.move_to({slider.max.x - 4, (slider.min.y + slider.max.y) / 2});
  lab.frame();
  lab.backend.mouse(0, true);
  lab.frames(2);
  lab.backend.mouse(0, false);
  lab.frames(2);
  EXPECT_NEAR(lab.view.forms.training.smoothing, 0.99, 1e-9);
  EXPECT_EQ(lab.backend.find("training/smoothing")->value, "0.99");
}

TEST_F(PanelCommands, LogIsCopiedToTheClipboard) {
  lab.open(Page::Log);
  lab.show(make_scene(Page::Log, Scene::Done));
  lab.view.forms.log.filter = "NUMBER 59";
  lab.frames(2);
  lab.click("log/copy");
  EXPECT_NE(lab.backend.clipboard.find("number 59"), std::string::npos);
  EXPECT_EQ(lab.backend.clipboard.find("number 58"), std::string::npos);
}

TEST(ViewSettings, KeepALanguageOnlyIfItWasChosen) {
  ui::ViewState view;
  view.locale = Language::Japanese;
  EXPECT_EQ(view.wanted_language(), Language::Japanese);
  EXPECT_FALSE(save_view(view).contains("language"));
  view.language = Language::English;
  EXPECT_EQ(view.wanted_language(), Language::English);
  EXPECT_EQ(save_view(view).at("language"), "en");
}

TEST(ViewSettings, SurviveSavingAndLoading) {
  ui::ViewState view;
  view.page = Page::Training;
  view.mode = ui::ThemeMode::Light;
  view.scale = 1.75F;
  view.language = Language::Vietnamese;
  view.forms.matmul.sizes = "100,200";
  view.forms.devices.cpu_devices = 4;
  ui::ViewState loaded;
  load_view(loaded, save_view(view));
  EXPECT_EQ(loaded.forms.devices.cpu_devices, 4);
  EXPECT_EQ(save_view(loaded), save_view(view));
  EXPECT_EQ(loaded.page, Page::Training);
  EXPECT_EQ(loaded.scale, 1.75F);
  EXPECT_EQ(loaded.language, Language::Vietnamese);
  load_view(loaded, {{"page", "elsewhere"}, {"scale", "9"}, {"theme", "pink"}, {"language", "xx"}});
  EXPECT_EQ(save_view(loaded), save_view(view));
}

TEST(Outcome, SaysWhatOthersTookFromTheCores) {
  for (const double others : {0.04, 0.12}) {
    ui::Model model(machine_of(1));
    model.apply(event(1, 0, JobStarted{"Transfers by size", StartTransfers{}}));
    model.apply(event(1, 1, CoresShared{others}));
    model.apply(event(1, 2, JobFinished{Outcome::Done, 2, "", Errc::Internal}));
    Lab lab(std::move(model));
    lab.open(Page::Transfers);
    ASSERT_EQ(lab.visible("transfers/others"), others > 0.05);
    if (others < 0.05) continue;
    EXPECT_NE(lab.backend.find("transfers/others")->label.find("took 12 %"), std::string::npos);
    EXPECT_EQ(lab.backend.find("transfers/others")->label.find("quiet"), std::string::npos);
    lab.model.apply(event(2, 3, JobStarted{"Transfers by size", StartTransfers{}}));
    lab.frames(3);
    EXPECT_FALSE(lab.visible("transfers/others"));
  }
}

}  // namespace
}  // namespace lab::test
