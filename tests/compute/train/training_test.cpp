#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/train/trainer.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

StartTraining small_request() {
  StartTraining request;
  request.synthetic_train = 300;
  request.synthetic_test = 60;
  request.batch = 128;
  request.epochs = 2;
  return request;
}

// Returns the code and message of the request's error; Internal if it runs.
std::pair<Errc, std::string> failure(const StartTraining& request) {
  test::Probe probe;
  try {
    probe.run(*make_training_experiment(request));
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Errc::Internal, "it ran"};
}

std::vector<std::string> log_of(const StartTraining& request) {
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  std::vector<std::string> lines;
  for (const LogLine& line : probe.all<LogLine>()) lines.push_back(line.text);
  return lines;
}

TEST(Training, ReportsTheChosenConvolutions) {
  StartTraining request = small_request();
  request.epochs = 1;
  request.convolution = "gemm";
  EXPECT_EQ(log_of(request),
            (std::vector<std::string>{
                "convolution algorithms: forward: gemm in 2 layers; backward: gemm in 2 layers"}));
  request.model = "mlp";
  EXPECT_TRUE(log_of(request).empty());
}

// The first run measures; the second uses the choices of the first.
TEST(Training, ReusesTheChosenConvolutions) {
  StartTraining request = small_request();
  request.epochs = 1;
  const auto losses = [&] {
    test::Probe probe;
    probe.run(*make_training_experiment(request));
    std::vector<double> all;
    for (const StepDone& step : probe.all<StepDone>()) all.push_back(step.loss);
    return all;
  };
  EXPECT_EQ(losses(), losses());
}

TEST(Training, ReportsStepsEpochsAndCompletion) {
  test::Probe probe;
  probe.run(*make_training_experiment(small_request()));
  const auto started = probe.all<TrainingStarted>();
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].lr, 0.9);
  EXPECT_EQ(started[0].parameters, 61706);
  EXPECT_EQ(started[0].steps_per_epoch, 3);
  EXPECT_EQ(started[0].total_steps, 6);
  EXPECT_TRUE(started[0].synthetic);
  EXPECT_EQ(started[0].request.devices, std::vector<Device>{cpu()});

  const auto steps = probe.all<StepDone>();
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[2].images, 44);
  EXPECT_EQ(steps[3].epoch, 2);
  EXPECT_EQ(steps[5].step, 6);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_GT(steps[i].t_s, steps[i - 1].t_s);

  const auto epochs = probe.all<EpochDone>();
  ASSERT_EQ(epochs.size(), 2U);
  EXPECT_NEAR(epochs[0].train_loss,
              (steps[0].loss * 128 + steps[1].loss * 128 + steps[2].loss * 44) / 300, 1e-9);
  const auto done = probe.all<TrainingDone>();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].steps, 6);
  EXPECT_EQ(done[0].test_acc, epochs[1].test_acc);
  EXPECT_EQ(probe.all<Predictions>().at(1).images.size(), 48U);
  std::int64_t counted = 0;
  const Confusion confusion = probe.all<Confusion>().at(1);
  for (const std::int64_t n : confusion.counts) counted += n;
  EXPECT_EQ(counted, 60);
}

TEST(Training, IsReproducible) {
  StartTraining request = small_request();
  request.steps = 4;
  request.evaluate = false;
  test::Probe first, second;
  first.run(*make_training_experiment(request));
  second.run(*make_training_experiment(request));
  const auto a = first.all<StepDone>(), b = second.all<StepDone>();
  ASSERT_EQ(a.size(), 4U);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].loss, b[i].loss);
  EXPECT_FALSE(first.all<EpochDone>().at(0).test_acc.has_value());
}

TEST(Training, StepsOverrideTheEpochs) {
  StartTraining request = small_request();
  request.epochs = 1;
  request.steps = 5;
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  EXPECT_EQ(probe.all<StepDone>().size(), 5U);
  EXPECT_EQ(probe.all<EpochDone>().size(), 2U);
}

TEST(Training, ContinuesFromASavedFile) {
  const test::TempDir dir;
  StartTraining whole = small_request();
  whole.order = BatchOrder::Sequential;
  whole.steps = 3;
  whole.save_file = (dir.path() / "three.safetensors").string();
  test::Probe probe;
  probe.run(*make_training_experiment(whole));
  EXPECT_EQ(probe.all<TrainingDone>().at(0).saved_file, whole.save_file);

  StartTraining none = whole;
  none.steps = 0;
  none.init_file = whole.save_file;
  none.save_file = (dir.path() / "again.safetensors").string();
  test::Probe again;
  again.run(*make_training_experiment(none));
  EXPECT_EQ(files::read_file(none.save_file), files::read_file(whole.save_file));
}

TEST(Training, CancelsBetweenOperations) {
  StartTraining request = small_request();
  request.model = "resnet18";
  request.synthetic_train = 64;
  request.batch = 32;
  request.epochs = 100'000;      // ends only when stopped
  request.convolution = "rule";  // no measurement before the start
  test::Probe probe;
  test::message_of([&] { probe.run_until<TrainingStarted>(*make_training_experiment(request), 1); },
                   Errc::Cancelled);
}

// The computation before the pause takes an unknown time, so pauses grow until that time is less
// than half a pause. If the reported time included the pauses, no length would satisfy this.
TEST(Training, ExcludesPausesFromReportedTime) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  StartTraining request = small_request();
  request.epochs = 100'000;  // cannot end before it pauses
  request.evaluate = false;
  for (double pause_s = 0.1;; pause_s *= 2) {
    test::Probe probe;
    Clock::time_point resumed;
    probe.run_until(*make_training_experiment(request), [&](const Event& e) {
      if (!std::holds_alternative<StepDone>(e.payload) || resumed != Clock::time_point()) {
        return false;
      }
      probe.control.pause(true);
      std::this_thread::sleep_for(Seconds(pause_s));
      probe.control.stop_after_epoch();
      resumed = Clock::now();
      probe.control.pause(false);
      return false;
    });
    const Seconds after = Clock::now() - resumed;
    if (probe.all<TrainingDone>().at(0).seconds <= after.count() + pause_s / 2) return;
  }
}

TEST(Training, StopsAfterTheEpochOnRequest) {
  test::Probe probe;
  probe.control.stop_after_epoch();
  probe.run(*make_training_experiment(small_request()));
  EXPECT_EQ(probe.all<EpochDone>().size(), 1U);
  EXPECT_EQ(probe.all<TrainingDone>().at(0).steps, 3);
}

TEST(Training, ReportsDivergence) {
  StartTraining request = small_request();
  request.model = "mlp";
  request.lr = 1e30;
  const auto [code, message] = failure(request);
  EXPECT_EQ(code, Errc::InvalidArgument);
  EXPECT_NE(message.find("diverged"), std::string::npos) << message;
  EXPECT_NE(message.find("try a smaller one"), std::string::npos);
}

// At these rates the weights overflow in an early update, and the loss in the following step.
TEST(Training, KeepsOnlyResumableCheckpoints) {
  const test::TempDir dir;
  StartTraining request = small_request();
  request.model = "mlp";
  request.checkpoint_dir = (dir.path() / "checkpoints").string();
  request.checkpoint_every = 1;
  request.save_file = (dir.path() / "saved.safetensors").string();
  for (const double lr : {1e10, 1e15, 1e18, 1e30, 1e300}) {
    SCOPED_TRACE(lr);
    std::filesystem::remove_all(request.checkpoint_dir);
    request.lr = lr;
    const auto [code, message] = failure(request);
    EXPECT_EQ(code, Errc::InvalidArgument);
    EXPECT_NE(message.find("diverged"), std::string::npos) << message;
    EXPECT_EQ(message.find("nan"), std::string::npos) << message;
    EXPECT_FALSE(std::filesystem::exists(request.save_file));
    const auto good = message.find("the last good checkpoint is ");
    const bool any = !std::filesystem::is_empty(request.checkpoint_dir);
    EXPECT_EQ(good != std::string::npos, any) << message;
    if (!any) continue;
    StartTraining again = request;
    again.resume_dir = request.checkpoint_dir;
    again.steps = 0;
    again.save_file.clear();
    again.evaluate = false;
    EXPECT_EQ(failure(again).second, "it ran");
    again.resume_dir.clear();
    const auto init = message.find("--init ") + 7;
    again.init_file = message.substr(init);
    EXPECT_EQ(failure(again).second, "it ran") << again.init_file;
  }
  EXPECT_TRUE(std::filesystem::is_empty(request.checkpoint_dir)) << "the first update overflows";
}

// `--resume DIR --steps 0 --save FILE` exports a checkpoint's weights, here from within an epoch.
TEST(Training, EvaluatesACheckpointWithoutSteps) {
  const test::TempDir dir;
  StartTraining request = small_request();
  request.model = "mlp";
  request.checkpoint_dir = (dir.path() / "checkpoints").string();
  request.steps = 2;
  const auto accuracy = [&] {
    test::Probe probe;
    probe.run(*make_training_experiment(request));
    return probe.all<TrainingDone>().at(0).test_acc.value_or(-1);
  };
  const double trained = accuracy();
  request.resume_dir = request.checkpoint_dir;
  request.steps = 0;
  EXPECT_EQ(accuracy(), trained);
  EXPECT_GE(trained, 0);
  request.steps.reset();
  test::Probe rest;
  rest.run(*make_training_experiment(request));
  const auto steps = rest.all<StepDone>();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front().step, 3) << "the rest of the epoch is not skipped";
  EXPECT_EQ(steps.front().epoch, 1);
}

// Cancels at any moment, including within a step that has already changed the running statistics.
TEST(Training, ResumesACancelledRunBitForBit) {
  const test::TempDir dir;
  StartTraining request = small_request();
  request.model = "resnet18";
  request.width = 16;
  request.convolution = "rule";
  request.synthetic_train = 8;
  request.synthetic_test = 1;
  request.batch = 2;
  request.momentum = 0.9;
  request.evaluate = false;
  request.steps = 12;
  request.save_file = (dir.path() / "whole.safetensors").string();
  test::Probe whole;
  whole.run(*make_training_experiment(request));

  StartTraining part = request;
  part.checkpoint_dir = (dir.path() / "checkpoints").string();
  part.save_file = (dir.path() / "resumed.safetensors").string();
  test::Probe cancelled;
  test::message_of([&] { cancelled.run_until<StepDone>(*make_training_experiment(part), 1); },
                   Errc::Cancelled);
  const std::size_t steps = cancelled.all<StepDone>().size();
  ASSERT_GE(steps, 1U);
  const std::string folder = fmt::format("{}/step-{:08}", part.checkpoint_dir, steps);
  EXPECT_EQ(
      cancelled.all<LogLine>().back().text,
      fmt::format("training stopped after step {}; continue from its checkpoint with --resume {}",
                  steps, folder));

  part.resume_dir = part.checkpoint_dir;
  test::Probe resumed;
  resumed.run(*make_training_experiment(part));
  EXPECT_EQ(resumed.all<StepDone>().size(), 12 - steps);
  EXPECT_EQ(files::read_file(part.save_file), files::read_file(request.save_file));
}

TEST(Training, RejectsInvalidRequests) {
  StartTraining request = small_request();
  request.model = "vgg";
  EXPECT_EQ(failure(request).first, Errc::NotFound);
  request = small_request();
  request.lr = -1;
  EXPECT_EQ(failure(request).second, "training: learning rate is -1; it must be above 0");
  request = small_request();
  request.batch = 0;
  EXPECT_EQ(failure(request).first, Errc::InvalidArgument);
  request = small_request();
  request.epochs = 0;
  EXPECT_EQ(failure(request).first, Errc::InvalidArgument);
  request = small_request();
  request.momentum = 1;
  EXPECT_EQ(failure(request).first, Errc::InvalidArgument);
  request = small_request();
  request.dtype = Precision::TF32;
  EXPECT_EQ(failure(request).first, Errc::InvalidArgument);
  request = small_request();
  request.devices = {cpu(7)};
  EXPECT_EQ(failure(request).first, Errc::NotFound);
}

TEST(Training, ChecksFilesBeforeTraining) {
  const test::TempDir dir;
  StartTraining request = small_request();
  request.save_file = (dir.path() / "none" / "a.safetensors").string();
  EXPECT_EQ(failure(request).first, Errc::Io);
  request = small_request();
  request.init_file = (dir.path() / "b.safetensors").string();
  EXPECT_EQ(failure(request).first, Errc::NotFound);
  files::write_file(request.init_file, "abc");
  const auto [code, message] = failure(request);
  EXPECT_EQ(code, Errc::Corrupt);
  EXPECT_NE(message.find("b.safetensors"), std::string::npos);
}

// Early in a training, the most confident errors are many images of one class.
TEST(Predictions, ShowEveryConfusionBeforeASecondOne) {
  ImageSet images;
  images.count = 100;
  images.pixels.resize(100 * 28 * 28);
  Evaluation evaluation;
  for (int i = 0; i < 100; ++i) {
    const bool rare = i >= 98;
    images.labels.push_back(static_cast<std::uint8_t>(rare ? i - 97 : 3));
    evaluation.predicted.push_back(7);
    evaluation.confidence.push_back(rare ? 0.1F : 0.5F + 0.001F * static_cast<float>(i));
  }
  const Predictions shown = sample_predictions(1, images, evaluation);
  ASSERT_EQ(shown.images.size(), kPredictionSamples);
  EXPECT_EQ(shown.images[0].label, 3);
  EXPECT_FLOAT_EQ(shown.images[0].confidence, 0.597F);
  EXPECT_EQ(shown.images[1].label, 1);
  EXPECT_EQ(shown.images[2].label, 2);
  EXPECT_FLOAT_EQ(shown.images[3].confidence, 0.596F);
}

}  // namespace
}  // namespace lab
