// Training on this machine's GPUs, against its CPU: the tests of tests/compute/train on emulated
// GPUs, with the kernels that real ones run.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trained_steps.h"

namespace lab::test {
namespace {

constexpr double kTolerance = 1e-4;

TrainerOptions model(const std::string& name) {
  return {.model = name, .seed = 2};
}

// With all widths multiples of 64, as the kernels of wgmma need them.
TrainerOptions resnet(Precision products = Precision::F32) {
  TrainerOptions options = model("resnet18");
  options.kernels.products = products;
  return options;
}

// ResNet amplifies rounding: after these steps the CPU's own algorithms differ by 2e-5, after one
// more, or a step at five times the rate, by 1e-4 to 2e-3.
constexpr StepsToTrain kOneStep{.steps = 1, .batch = 16, .lr = 0.1};
constexpr StepsToTrain kSlowSteps{.steps = 2, .batch = 16, .lr = 0.001};

TEST(TrainingOnGpu, SmallModelsMatchTheCpu) {
  LAB_REQUIRE_GPU();
  for (const char* name : {"softmax", "mlp", "lenet"}) {
    SCOPED_TRACE(name);
    expect_close(train_on(gpu_machine(), {gpu()}, model(name)),
                 train_on(gpu_machine(), {cpu()}, model(name)), kTolerance);
  }
}

TEST(TrainingOnGpu, ResnetMatchesTheCpu) {
  LAB_REQUIRE_GPU();
  for (const StepsToTrain& run : {kOneStep, kSlowSteps}) {
    expect_close(train_on(gpu_machine(), {gpu()}, resnet(), run),
                 train_on(gpu_machine(), {cpu()}, resnet(), run), kTolerance);
  }
}

TEST(TrainingOnGpu, RoundedProductsStayCloseToTheCpu) {
  LAB_REQUIRE_GPU();
  const TrainedSteps exact = train_on(gpu_machine(), {cpu()}, resnet(), kSlowSteps);
  for (const auto& [products, tolerance] :
       {std::pair{Precision::TF32, 1e-2}, std::pair{Precision::BF16, 5e-2}}) {
    SCOPED_TRACE(to_string(products));
    const TrainedSteps rounded = train_on(gpu_machine(), {gpu()}, resnet(products), kSlowSteps);
    for (std::size_t i = 0; i < exact.losses.size(); ++i) {
      EXPECT_NEAR(rounded.losses[i], exact.losses[i], tolerance * exact.losses[i]);
    }
    EXPECT_LE(relative_error(floats(rounded.parameters), exact.parameters), tolerance);
  }
}

TEST(TrainingOnGpu, RepeatsBitForBit) {
  LAB_REQUIRE_GPU();
  for (const Precision products : enum_values<Precision>()) {
    const TrainedSteps first = train_on(gpu_machine(), {gpu()}, resnet(products), kSlowSteps);
    const TrainedSteps second = train_on(gpu_machine(), {gpu()}, resnet(products), kSlowSteps);
    EXPECT_EQ(first.losses, second.losses) << to_string(products);
    EXPECT_EQ(first.parameters, second.parameters) << to_string(products);
  }
}

TEST(TrainingOnGpu, TheLibrariesMatchTheCpu) {
  LAB_REQUIRE_GPU();
  try {
    gpu_machine().at(gpu()).gpu()->library_layers();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (TrainerOptions options : {model("lenet"), resnet()}) {
    const StepsToTrain run = options.model == "lenet" ? StepsToTrain{} : kSlowSteps;
    const TrainedSteps expected = train_on(gpu_machine(), {cpu()}, options, run);
    options.kernels.library = true;
    expect_close(train_on(gpu_machine(), {gpu()}, options, run), expected, kTolerance);
    StepsToTrain alternate = run;
    alternate.alternate = true;
    expect_close(train_on(gpu_machine(), {gpu()}, options, alternate), expected, kTolerance);
  }
}

// LeNet has no statistics of its own per device, so one CPU device is a measure for two devices.
TEST(TrainingOnGpu, AGpuAndACpuMatchTheCpu) {
  LAB_REQUIRE_GPU();
  const TrainedSteps expected = train_on(gpu_machine(), {cpu()}, model("lenet"));
  expect_close(train_on(gpu_machine(), {gpu(), cpu()}, model("lenet")), expected, kTolerance);
  expect_close(train_on(gpu_machine(), {cpu(), gpu()}, model("lenet")), expected, kTolerance);
}

TEST(TrainingOnGpu, TwoGpusMatchTheCpuAndRepeat) {
  LAB_REQUIRE_GPUS(2);
  const std::vector<Device> both = {gpu(0), gpu(1)};
  expect_close(train_on(gpu_machine(), both, model("lenet")),
               train_on(gpu_machine(), {cpu()}, model("lenet")), kTolerance);
  const TrainedSteps first = train_on(gpu_machine(), both, resnet(), kSlowSteps);
  const TrainedSteps second = train_on(gpu_machine(), both, resnet(), kSlowSteps);
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.parameters, second.parameters);
}

// --- whole trainings ------------------------------------------------------------------------

StartTraining request_on(const std::vector<Device>& devices) {
  StartTraining request;
  request.model = "lenet";
  request.synthetic_train = 400;
  request.synthetic_test = 80;
  request.batch = 32;
  request.steps = 12;
  request.lr = 0.1;
  request.devices = devices;
  return request;
}

std::vector<double> losses_of(const StartTraining& request) {
  Probe probe(MachineOptions{.open_gpus = open_gpus});
  probe.run(*make_training_experiment(request));
  std::vector<double> losses;
  for (const StepDone& step : probe.all<StepDone>()) losses.push_back(step.loss);
  return losses;
}

TEST(TrainingOnGpu, CheckpointsContinueOnTheOtherKindOfDevice) {
  LAB_REQUIRE_GPU();
  end_gpu_machine();
  const std::vector<double> whole = losses_of(request_on({cpu()}));
  ASSERT_EQ(whole.size(), 12U);
  for (const auto& [first, second] : {std::pair{gpu(), cpu()}, std::pair{cpu(), gpu()}}) {
    const TempDir dir;
    StartTraining request = request_on({first});
    request.steps = 5;
    request.checkpoint_dir = dir.path().string();
    losses_of(request);
    request = request_on({second});
    request.resume_dir = dir.path().string();
    const std::vector<double> rest = losses_of(request);
    ASSERT_EQ(rest.size(), 7U);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      EXPECT_NEAR(rest[i], whole[5 + i], kTolerance * whole[5 + i]) << to_string(second);
    }
  }
}

TEST(TrainingOnGpu, StepsAheadOfTheirLossesGiveTheSameBits) {
  LAB_REQUIRE_GPU();
  end_gpu_machine();
  StartTraining request = request_on({gpu()});
  request.steps_ahead = 0;
  const std::vector<double> single = losses_of(request);
  for (const std::int64_t ahead : {1, 16, 31}) {
    request.steps_ahead = ahead;
    EXPECT_EQ(losses_of(request), single) << ahead;
  }
}

TEST(TrainingOnGpu, SharesAreBalancedWithACpu) {
  LAB_REQUIRE_GPU();
  end_gpu_machine();
  StartTraining request = request_on({gpu(), cpu()});
  request.share_policy = SharePolicy::Auto;
  request.synthetic_train = 8192;
  request.batch = 2048;  // of a small batch, 16 CPU cores take more than an H200
  request.steps = 40;
  Probe probe(MachineOptions{.open_gpus = open_gpus});
  probe.run(*make_training_experiment(request));
  const auto steps = probe.all<StepDone>();
  ASSERT_EQ(steps.size(), 40U);
  ASSERT_EQ(steps.back().devices.size(), 2U);
  EXPECT_GT(steps.back().devices[0].images, steps.back().devices[1].images) << "the GPU is faster";
}

TEST(TrainingOnGpu, ABatchTooLargeNamesTheLargest) {
  LAB_REQUIRE_GPU();
  end_gpu_machine();
  StartTraining request = request_on({gpu()});
  request.model = "resnet18";
  const auto refused = [&](std::int64_t batch, Errc code) {
    request.batch = batch;
    const std::string message = message_of([&] { losses_of(request); }, code);
    EXPECT_NE(message.find("cuda:0"), std::string::npos) << message;
    EXPECT_NE(message.find("can take batches of up to"), std::string::npos) << message;
  };
  refused(std::int64_t{1} << 20, Errc::InvalidArgument);  // arrays of more than 2^31 - 1 elements
  // The largest batch without such arrays needs more than this.
  constexpr std::int64_t kMemory = std::int64_t{142} << 30;
  const std::int64_t memory = gpu_machine().at(gpu()).info().memory_total_bytes;
  end_gpu_machine();
  if (memory < kMemory) refused(42'700, Errc::OutOfMemory);
}

}  // namespace
}  // namespace lab::test
