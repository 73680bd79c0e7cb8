// Settings changed while a training runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/experiments/training/training_experiment.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

StartTraining changed_while_running() {
  StartTraining request;
  request.model = "mlp";
  request.lr = 0.1;
  request.synthetic_train = 384;
  request.synthetic_test = 60;
  request.batch = 128;
  request.epochs = 2;
  return request;
}

// Runs the training and makes `change` as soon as it has reported its first step.
void run_with_change(test::Probe& probe, const StartTraining& request,
                     const ChangeTraining& change) {
  bool made = false;
  probe.run_until(*make_training_experiment(request), [&](const Event& e) {
    if (!made && std::holds_alternative<StepDone>(e.payload)) {
      probe.control.change(change);
      made = true;
    }
    return false;
  });
}

TEST(TrainingChanges, ApplyToTheStepsThatFollow) {
  StartTraining request = changed_while_running();
  request.epochs = 2000;
  test::Probe probe;
  run_with_change(probe, request, {.lr = 0.05, .epochs = 1});
  const auto changes = probe.all<TrainingChanged>();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].setting, "lr");
  EXPECT_EQ(changes[0].before, "0.1");
  EXPECT_EQ(changes[0].after, "0.05");
  EXPECT_EQ(changes[1].setting, "epochs");
  const auto steps = probe.all<StepDone>();
  for (const StepDone& step : steps) {
    EXPECT_EQ(step.lr, step.step <= changes[0].step ? 0.1 : 0.05) << step.step;
  }
  EXPECT_EQ(static_cast<std::int64_t>(steps.size()), changes[1].total_steps);
  EXPECT_EQ(changes[1].total_steps % 3, 0) << "the epoch that had begun was completed";
  const TrainingDone done = probe.all<TrainingDone>().at(0);
  ASSERT_EQ(done.changes.size(), 2U);
  EXPECT_EQ(done.changes[0].after, "0.05");
}

TEST(TrainingChanges, WaitForTheEndOfAPause) {
  test::Probe probe;
  probe.control.change({.lr = 0.5});
  probe.control.change({.lr = 0.25, .epochs = 1});
  probe.run(*make_training_experiment(changed_while_running()));
  EXPECT_EQ(probe.all<StepDone>().size(), 3U);
  for (const StepDone& step : probe.all<StepDone>()) EXPECT_EQ(step.lr, 0.25);
}

TEST(TrainingChanges, DivideTheBatchAnew) {
  StartTraining request = changed_while_running();
  request.devices = {cpu(0), cpu(1)};
  test::Probe probe(2);
  probe.control.change({.share_policy = SharePolicy::Listed, .shares = {3, 1}});
  probe.run(*make_training_experiment(request));
  const auto steps = probe.all<StepDone>();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].devices.at(0).images, 96);
  EXPECT_EQ(steps[0].devices.at(1).images, 32);
  EXPECT_EQ(probe.all<TrainingChanged>().at(0).after, "3,1");
}

TEST(TrainingChanges, AreIgnoredWithAReasonIfInvalid) {
  test::Probe probe;
  probe.control.change({.lr = -1});
  probe.run(*make_training_experiment(changed_while_running()));
  EXPECT_TRUE(probe.all<TrainingChanged>().empty());
  EXPECT_EQ(probe.all<StepDone>().size(), 6U);
  bool told = false;
  for (const LogLine& line : probe.all<LogLine>()) {
    told = told || (line.severity == Severity::Warning &&
                    line.text.find("learning rate is -1") != std::string::npos);
  }
  EXPECT_TRUE(told);
}

TEST(TrainingChanges, AreKeptByCheckpoints) {
  const test::TempDir dir;
  StartTraining request = changed_while_running();
  request.checkpoint_dir = dir.path().string();
  request.epochs = 1;
  test::Probe first;
  first.control.change({.lr = 0.05});
  first.run(*make_training_experiment(request));

  StartTraining more = request;
  more.checkpoint_dir.clear();
  more.resume_dir = request.checkpoint_dir;
  more.epochs = 2;
  test::Probe refused;
  const std::string message = test::message_of(
      [&] { refused.run(*make_training_experiment(more)); }, Errc::InvalidArgument);
  EXPECT_NE(message.find("0.05"), std::string::npos) << message;

  more.lr = 0.05;
  test::Probe second;
  second.run(*make_training_experiment(more));
  EXPECT_EQ(second.all<TrainingDone>().at(0).changes.at(0).after, "0.05");
}

}  // namespace
}  // namespace lab
