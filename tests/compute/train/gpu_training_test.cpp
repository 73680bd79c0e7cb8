// Training on emulated GPUs, through the code that real ones use, against the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/nn/models.h"
#include "compute/nn/state_dict.h"
#include "compute/train/trainer.h"
#include "tests/support/compare.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

const MachineOptions kTwoGpus{.emulated_gpus = 2};

struct Result {
  std::vector<double> losses;
  std::vector<float> parameters, mean, variance;
  std::int64_t batches = 0;
  Evaluation test;
};

struct Steps {
  int steps = 3;
  std::int64_t batch = 4;
  nn::SgdOptions sgd = {.momentum = 0.5, .weight_decay = 1e-3};
};

Result train_on(Machine& machine, const std::vector<Device>& devices, TrainerOptions options,
                const Steps& run = {}) {
  const Dataset data = make_synthetic_garments(3 * run.batch - 1, 9, 1);
  std::vector<DeviceContext*> contexts;
  for (const Device device : devices) contexts.push_back(&machine.at(device));
  options.batch = run.batch;
  options.sgd = run.sgd;
  Trainer trainer(contexts, options);
  BatchLoader loader(data.train, run.batch, BatchOrder::Shuffled, 3);
  Result result;
  for (int step = 0; step < run.steps; ++step) {
    if (step % loader.steps_per_epoch() == 0) loader.start_epoch(step / loader.steps_per_epoch());
    const StepResult& done = trainer.step(loader, step % loader.steps_per_epoch(), 0.05, {});
    result.losses.push_back(done.loss);
  }
  result.test = trainer.evaluate(data.test, {});
  trainer.gather_state();
  const auto parameters = trainer.network().flat_parameters();
  result.parameters.assign(parameters.begin(), parameters.end());
  for (const nn::RunningStatistics& one : trainer.network().running()) {
    result.mean.insert(result.mean.end(), one.mean.begin(), one.mean.end());
    result.variance.insert(result.variance.end(), one.variance.begin(), one.variance.end());
    result.batches = one.batches;
  }
  return result;
}

void expect_close(const Result& gpu, const Result& cpu, double tolerance) {
  ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
  for (std::size_t i = 0; i < cpu.losses.size(); ++i) {
    EXPECT_NEAR(gpu.losses[i], cpu.losses[i], tolerance * cpu.losses[i]) << "step " << i + 1;
  }
  EXPECT_LE(test::relative_error(gpu.parameters, cpu.parameters), tolerance);
  EXPECT_NEAR(gpu.test.loss, cpu.test.loss, tolerance * cpu.test.loss);
  EXPECT_EQ(gpu.test.predicted, cpu.test.predicted);
  EXPECT_EQ(gpu.batches, cpu.batches);
  if (cpu.mean.empty()) return;
  EXPECT_LE(test::relative_error(gpu.mean, cpu.mean), tolerance);
  EXPECT_LE(test::relative_error(gpu.variance, cpu.variance), tolerance);
}

TrainerOptions model(const std::string& name) {
  return {.model = name, .seed = 2};
}

TrainerOptions narrow_resnet() {
  TrainerOptions options = model("resnet18");
  options.plan = [] { return nn::plan_resnet18(8); };
  return options;
}

constexpr double kTolerance = 1e-5;

TEST(GpuTraining, SmallModelsMatchTheCpu) {
  Machine machine(kTwoGpus);
  for (const char* name : {"softmax", "mlp", "lenet"}) {
    SCOPED_TRACE(name);
    expect_close(train_on(machine, {emulated_gpu(0)}, model(name)),
                 train_on(machine, {cpu()}, model(name)), kTolerance);
  }
}

TEST(GpuTraining, WorksWithoutMomentum) {
  Machine machine(kTwoGpus);
  const Steps run{.steps = 4, .sgd = {}};
  expect_close(train_on(machine, {emulated_gpu(0)}, model("lenet"), run),
               train_on(machine, {cpu()}, model("lenet"), run), kTolerance);
}

TEST(GpuTraining, NarrowResnetMatchesTheCpu) {
  Machine machine(kTwoGpus);
  expect_close(train_on(machine, {emulated_gpu(0)}, narrow_resnet()),
               train_on(machine, {cpu()}, narrow_resnet()), kTolerance);
}

TEST(GpuTraining, TwoGpusMatchTwoCpuDevices) {
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2});
  for (const TrainerOptions& options : {model("lenet"), narrow_resnet()}) {
    const Result cpus = train_on(machine, {cpu(0), cpu(1)}, options);
    expect_close(train_on(machine, {emulated_gpu(0), emulated_gpu(1)}, options), cpus, kTolerance);
    expect_close(train_on(machine, {cpu(0), emulated_gpu(0)}, options), cpus, kTolerance);
    expect_close(train_on(machine, {emulated_gpu(1), cpu(1)}, options), cpus, kTolerance);
  }
}

TEST(GpuTraining, RepeatsBitForBit) {
  Machine machine(kTwoGpus);
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  const Result first = train_on(machine, gpus, model("lenet"));
  const Result second = train_on(machine, gpus, model("lenet"));
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.parameters, second.parameters);
}

}  // namespace
}  // namespace lab
