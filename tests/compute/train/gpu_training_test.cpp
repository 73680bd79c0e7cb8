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
  std::vector<double> parameters, mean, variance;
  std::int64_t batches = 0;
  Evaluation test;
};

struct Steps {
  int steps = 3;
  std::int64_t batch = 4;
  double lr = 0.05;
  nn::SgdOptions sgd = {.momentum = 0.5, .weight_decay = 1e-3};
};

Result train_on(Machine& machine, const std::vector<Device>& devices, TrainerOptions options,
                const Steps& run = {}) {
  const Dataset data = make_synthetic_garments(3 * run.batch - 1, 9, 1);
  std::vector<DeviceContext*> contexts;
  contexts.reserve(devices.size());
  for (const Device device : devices) contexts.push_back(&machine.at(device));
  options.batch = run.batch;
  options.sgd = run.sgd;
  Trainer trainer(contexts, options);
  BatchLoader loader(data.train, run.batch, BatchOrder::Shuffled, 3);
  Result result;
  for (int step = 0; step < run.steps; ++step) {
    if (step % loader.steps_per_epoch() == 0) loader.start_epoch(step / loader.steps_per_epoch());
    const StepResult& done = trainer.step(loader, step % loader.steps_per_epoch(), run.lr, {});
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

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

void expect_close(const Result& gpu, const Result& cpu, double tolerance) {
  ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
  for (std::size_t i = 0; i < cpu.losses.size(); ++i) {
    EXPECT_NEAR(gpu.losses[i], cpu.losses[i], tolerance * cpu.losses[i]) << "step " << i + 1;
  }
  EXPECT_LE(test::relative_error(floats(gpu.parameters), cpu.parameters), tolerance);
  EXPECT_NEAR(gpu.test.loss, cpu.test.loss, tolerance * cpu.test.loss);
  EXPECT_EQ(gpu.test.predicted, cpu.test.predicted);
  EXPECT_EQ(gpu.batches, cpu.batches);
  if (cpu.mean.empty()) return;
  EXPECT_LE(test::relative_error(floats(gpu.mean), cpu.mean), tolerance);
  EXPECT_LE(test::relative_error(floats(gpu.variance), cpu.variance), tolerance);
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

// Convolutions in the emulator take minutes under the thread sanitizer, which finds the same races
// in small models.
#ifdef __SANITIZE_THREAD__
#define SKIP_UNDER_THREAD_SANITIZER() GTEST_SKIP() << "slow under the thread sanitizer"
#else
#define SKIP_UNDER_THREAD_SANITIZER() static_cast<void>(0)
#endif

TEST(GpuTraining, SmallModelsMatchTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine(kTwoGpus);
  for (const char* name : {"softmax", "mlp", "lenet"}) {
    SCOPED_TRACE(name);
    expect_close(train_on(machine, {emulated_gpu(0)}, model(name)),
                 train_on(machine, {cpu()}, model(name)), kTolerance);
  }
}

TEST(GpuTraining, WorksWithoutMomentum) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine(kTwoGpus);
  const Steps run{.steps = 4, .sgd = {}};
  expect_close(train_on(machine, {emulated_gpu(0)}, model("lenet"), run),
               train_on(machine, {cpu()}, model("lenet"), run), kTolerance);
}

// ResNet amplifies rounding: a value near zero takes the other side of a relu, and its gradient
// changes by a finite amount. Two CPU algorithms at this batch and a rate of 0.05 differ by 7e-4
// after three steps, and by 1e-7 after one. So gradients are compared after one step at a high
// rate, and the sequence of steps at a low one.
constexpr Steps kOneStep{.steps = 1, .lr = 0.5};
constexpr Steps kSlowSteps{.steps = 3, .lr = 0.001};

TEST(GpuTraining, NarrowResnetMatchesTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine(kTwoGpus);
  for (const Steps& run : {kOneStep, kSlowSteps}) {
    expect_close(train_on(machine, {emulated_gpu(0)}, narrow_resnet(), run),
                 train_on(machine, {cpu()}, narrow_resnet(), run), kTolerance);
  }
}

TEST(GpuTraining, ConvnetMatchesTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine(kTwoGpus);
  TrainerOptions options = model("convnet");
  options.kernels.label_smoothing = 0.1;
  expect_close(train_on(machine, {emulated_gpu(0)}, options, kOneStep),
               train_on(machine, {cpu()}, options, kOneStep), kTolerance);
}

TEST(GpuTraining, DevicesOfBothKindsMatchTwoCpuDevices) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2});
  const Result lenet = train_on(machine, {cpu(0), cpu(1)}, model("lenet"));
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0), emulated_gpu(1)}, std::vector{cpu(0), emulated_gpu(0)},
        std::vector{emulated_gpu(1), cpu(1)}}) {
    expect_close(train_on(machine, devices, model("lenet")), lenet, kTolerance);
  }
  const Result resnet = train_on(machine, {cpu(0), cpu(1)}, narrow_resnet(), kOneStep);
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0), emulated_gpu(1)}, std::vector{emulated_gpu(1), cpu(1)}}) {
    expect_close(train_on(machine, devices, narrow_resnet(), kOneStep), resnet, kTolerance);
  }
}

TEST(GpuTraining, RepeatsBitForBit) {
  Machine machine(kTwoGpus);
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  const Result first = train_on(machine, gpus, model("softmax"));
  const Result second = train_on(machine, gpus, model("softmax"));
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.parameters, second.parameters);
}

StartTraining request_on(const std::vector<Device>& devices) {
  StartTraining request;
  request.model = "softmax";
  request.synthetic_train = 40;
  request.synthetic_test = 8;
  request.batch = 8;
  request.steps = 8;
  request.momentum = 0.9;
  request.devices = devices;
  return request;
}

std::vector<double> losses_of(const StartTraining& request) {
  test::Probe probe(kTwoGpus);
  probe.run(*make_training_experiment(request));
  std::vector<double> losses;
  for (const StepDone& step : probe.all<StepDone>()) losses.push_back(step.loss);
  return losses;
}

TEST(GpuTraining, CheckpointsContinueOnTheOtherKindOfDevice) {
  const std::vector<double> whole = losses_of(request_on({cpu()}));
  ASSERT_EQ(whole.size(), 8U);
  for (const auto& [first, second] :
       {std::pair{emulated_gpu(0), cpu()}, std::pair{cpu(), emulated_gpu(0)},
        std::pair{emulated_gpu(0), emulated_gpu(1)}}) {
    const test::TempDir dir;
    StartTraining request = request_on({first});
    request.steps = 5;
    request.checkpoint_dir = dir.path().string();
    losses_of(request);
    request = request_on({second});
    request.resume_dir = dir.path().string();
    const std::vector<double> rest = losses_of(request);
    ASSERT_EQ(rest.size(), 3U);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      EXPECT_NEAR(rest[i], whole[5 + i], 1e-5 * whole[5 + i]) << to_string(second);
    }
  }
}

TEST(GpuTraining, LossesThatAreNotFiniteStopIt) {
  SKIP_UNDER_THREAD_SANITIZER();
  StartTraining request = request_on({emulated_gpu(0)});
  request.model = "mlp";
  request.lr = 1e30;
  const std::string message = test::message_of([&] { losses_of(request); }, Errc::InvalidArgument);
  EXPECT_NE(message.find("diverged"), std::string::npos) << message;
}

TEST(GpuTraining, NamesTheMemoryThatIsMissing) {
  StartTraining request = request_on({emulated_gpu(0)});
  request.model = "resnet18";
  request.batch = 4096;
  const std::string message = test::message_of([&] { losses_of(request); }, Errc::OutOfMemory);
  EXPECT_NE(message.find("emu:0"), std::string::npos) << message;
  EXPECT_NE(message.find("2.00 GiB"), std::string::npos) << message;
}

TEST(GpuTraining, RefusesWhatADeviceCannotDo) {
  StartTraining request = request_on({cpu()});
  request.dtype = Precision::TF32;
  EXPECT_NE(test::message_of([&] { losses_of(request); }, Errc::InvalidArgument).find("tf32"),
            std::string::npos);
  request = request_on({emulated_gpu(0)});
  request.kernels = Kernels::Library;
  EXPECT_NE(test::message_of([&] { losses_of(request); }, Errc::Unsupported).find("--kernels lab"),
            std::string::npos);
  request = request_on({emulated_gpu(0)});
  request.profile = true;
  EXPECT_NE(test::message_of([&] { losses_of(request); }, Errc::Unsupported).find("never timed"),
            std::string::npos);
}

TEST(GpuTraining, ComputesInTf32AndBf16) {
  const std::vector<double> exact = losses_of(request_on({cpu()}));
  for (const auto& [dtype, tolerance] :
       {std::pair{Precision::TF32, 2e-3}, std::pair{Precision::BF16, 2e-2}}) {
    StartTraining request = request_on({emulated_gpu(0)});
    request.dtype = dtype;
    const std::vector<double> losses = losses_of(request);
    ASSERT_EQ(losses.size(), exact.size());
    EXPECT_NE(losses, exact);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(losses[i], exact[i], tolerance * exact[i]) << "step " << i + 1;
    }
  }
}

}  // namespace
}  // namespace lab
