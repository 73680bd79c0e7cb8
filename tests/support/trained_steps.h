#pragma once
// Trains a few steps on any devices, and compares the results of two trainings.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/nn/executor.h"
#include "compute/train/trainer.h"
#include "tests/support/compare.h"
#include "tests/support/contexts.h"

namespace lab::test {

struct TrainedSteps {
  std::vector<double> losses;
  std::vector<double> parameters, mean, variance;
  std::int64_t batches = 0;
  Evaluation test;
};

struct StepsToTrain {
  int steps = 3;
  std::int64_t batch = 4;
  double lr = 0.05;
  nn::SgdOptions sgd = {.momentum = 0.5, .weight_decay = 1e-3};
  std::int64_t divided = 0;  // the batch by which images are divided, if not `batch`
  bool alternate = false;    // between the lab's kernels and the library's, as --kernels both
  bool ahead = false;        // all steps are queued before the first result is taken
};

inline TrainedSteps train_on(Machine& machine, const std::vector<Device>& devices,
                             TrainerOptions options, const StepsToTrain& run = {}) {
  const Dataset data = make_synthetic_garments(3 * run.batch - 1, run.batch + 1, 1);
  const std::vector<DeviceContext*> contexts = contexts_of(machine, devices);
  options.batch = run.divided > 0 ? run.divided : run.batch;
  options.sgd = run.sgd;
  nn::PassOptions pass;
  if (options.kernels.library) pass.kernels = Kernels::Library;
  Trainer trainer(contexts, options);
  BatchLoader loader(data.train, run.batch, BatchOrder::Shuffled, 3);
  TrainedSteps result;
  for (int step = 0; step < run.steps; ++step) {
    if (step % loader.steps_per_epoch() == 0) loader.start_epoch(step / loader.steps_per_epoch());
    if (run.alternate) pass.kernels = step % 2 == 0 ? Kernels::Lab : Kernels::Library;
    const std::int64_t of_epoch = step % loader.steps_per_epoch();
    if (run.ahead) {
      trainer.queue_step(loader, of_epoch, run.lr, pass);
    } else {
      result.losses.push_back(trainer.step(loader, of_epoch, run.lr, pass).loss);
    }
  }
  while (trainer.queued() > 0) result.losses.push_back(trainer.finish_step().loss);
  result.test = trainer.evaluate(data.test, pass);
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

inline std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

inline void expect_close(const TrainedSteps& gpu, const TrainedSteps& cpu, double tolerance) {
  ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
  for (std::size_t i = 0; i < cpu.losses.size(); ++i) {
    EXPECT_NEAR(gpu.losses[i], cpu.losses[i], tolerance * cpu.losses[i]) << "step " << i + 1;
  }
  EXPECT_LE(relative_error(floats(gpu.parameters), cpu.parameters), tolerance);
  EXPECT_NEAR(gpu.test.loss, cpu.test.loss, tolerance * cpu.test.loss);
  EXPECT_EQ(gpu.test.predicted, cpu.test.predicted);
  EXPECT_EQ(gpu.batches, cpu.batches);
  if (cpu.mean.empty()) return;
  EXPECT_LE(relative_error(floats(gpu.mean), cpu.mean), tolerance);
  EXPECT_LE(relative_error(floats(gpu.variance), cpu.variance), tolerance);
}

}  // namespace lab::test
