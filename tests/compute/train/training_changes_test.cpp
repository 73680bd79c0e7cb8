// Settings changed while a training runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/fields/changes_json.h"
#include "compute/core/files/json_fields.h"
#include "compute/core/units.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/train/training_job.h"
#include "compute/train/training_request.h"
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

// A training that calls `on_result` with each result, on its own thread.
class Observed final : public Experiment {
 public:
  Observed(StartTraining request, std::function<void(const Payload&)> on_result)
      : request_(std::move(request)), on_result_(std::move(on_result)) {}
  void run(RunContext& ctx) override {
    const StartTraining request = complete_request(request_, ctx.machine());
    const Dataset data = load_training_data(request, ctx);
    const TrainingSink sink = [&](Payload payload) {
      on_result_(payload);
      ctx.emit(std::move(payload));
    };
    run_training(request, ctx, sink, [&]() -> const Dataset& { return data; });
  }

 private:
  const StartTraining request_;
  const std::function<void(const Payload&)> on_result_;
};

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

TEST(TrainingChanges, AutoSharesSayThatResultsDoNotRepeat) {
  StartTraining request = changed_while_running();
  request.devices = {cpu(0), cpu(1)};
  test::Probe probe(2);
  probe.control.change({.share_policy = SharePolicy::Auto});
  probe.run(*make_training_experiment(request));
  EXPECT_EQ(probe.all<TrainingChanged>().at(0).after, "auto");
  const auto lines = probe.all<LogLine>();
  EXPECT_EQ(std::ranges::count(lines, std::string(kMeasuredShares), &LogLine::text), 1);
}

bool warns(const test::Probe& probe, const std::string& of) {
  return std::ranges::any_of(probe.all<LogLine>(), [&](const LogLine& line) {
    return line.severity == Severity::Warning && line.text.find(of) != std::string::npos;
  });
}

TEST(TrainingChanges, AreIgnoredWithAReasonIfInvalid) {
  test::Probe probe;
  probe.control.change({.lr = -1});
  probe.run(*make_training_experiment(changed_while_running()));
  EXPECT_TRUE(probe.all<TrainingChanged>().empty());
  EXPECT_EQ(probe.all<StepDone>().size(), 6U);
  EXPECT_TRUE(warns(probe, "learning rate is -1"));
}

// Books all memory in small pieces, for which the machine's free memory does not count.
std::vector<TensorId> fill(MemoryAccount& memory) {
  std::vector<TensorId> ids;
  for (std::int64_t bytes = 8 * kMiB; bytes > 0; bytes /= 16) {
    while (memory.limit_bytes() - memory.used_bytes() >= bytes) {
      ids.push_back(memory.reserve(bytes, {}));
    }
  }
  return ids;
}

TEST(TrainingChanges, AreIgnoredIfTheLargerShareDoesNotFit) {
  StartTraining request = changed_while_running();
  request.devices = {cpu(0), cpu(1)};
  test::Probe probe(2);
  MemoryAccount& memory = probe.machine.at(cpu(1)).memory();
  std::vector<TensorId> fillers;
  Observed experiment(request, [&](const Payload& payload) {
    if (!fillers.empty() || !std::holds_alternative<StepDone>(payload)) return;
    fillers = fill(memory);
    probe.control.change({.share_policy = SharePolicy::Listed, .shares = {1, 7}});
  });
  probe.run(experiment);
  for (const TensorId id : fillers) memory.release(id);
  EXPECT_TRUE(warns(probe, "the training goes on unchanged: "));
  EXPECT_TRUE(probe.all<TrainingChanged>().empty());
  const auto steps = probe.all<StepDone>();
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps.back().devices.at(1).images, 64);
}

TEST(TrainingChanges, AddEpochsDuringTheLastEvaluation) {
  test::Probe probe;
  const StartTraining request = changed_while_running();
  std::int64_t epochs = 0;
  Observed experiment(request, [&](const Payload& payload) {
    if (std::holds_alternative<EpochDone>(payload) && ++epochs == request.epochs) {
      probe.control.change({.epochs = request.epochs + 1});
    }
  });
  probe.run(experiment);
  EXPECT_EQ(probe.all<EpochDone>().size(), 3U);
  EXPECT_EQ(probe.all<StepDone>().size(), 9U);
}

TEST(TrainingChanges, StayReadableHoweverManyThereAre) {
  std::vector<TrainingChanged> changes(5000);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i] = {.step = static_cast<std::int64_t>(i),
                  .t_s = 0.5,
                  .setting = "lr",
                  .before = "0.1",
                  .after = "0.2",
                  .total_steps = 9};
  }
  const nlohmann::ordered_json json = files::parse_object(changes_to_json(changes).dump(), "x");
  const auto read = changes_from_json(json);
  ASSERT_EQ(read.size(), changes.size());
  EXPECT_EQ(read.back().step, 4999);
  EXPECT_EQ(read.back().after, "0.2");
}

TEST(TrainingChanges, OfAnotherShapeAreRefused) {
  nlohmann::ordered_json json = changes_to_json(std::vector<TrainingChanged>(1));
  json["t_s"].push_back(2.0);
  test::message_of([&] { changes_from_json(json); }, Errc::Corrupt);
  json["t_s"] = "soon";
  const std::string message = test::message_of([&] { changes_from_json(json); }, Errc::Corrupt);
  EXPECT_NE(message.find("t_s"), std::string::npos) << message;
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
