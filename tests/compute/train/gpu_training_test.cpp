// Training on emulated GPUs, through the code that real ones use, against the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "compute/data/dataset.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/nn/executor.h"
#include "compute/nn/models.h"
#include "compute/nn/state_dict.h"
#include "compute/train/trainer.h"
#include "tests/support/contexts.h"
#include "tests/support/errors.h"
#include "tests/support/fake_layer_libraries/fake_libraries.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_sanitizer.h"
#include "tests/support/trained_steps.h"

namespace lab {
namespace {

const MachineOptions kTwoGpus{.emulated_gpus = 2};

using test::expect_close;
using test::train_on;
using Result = test::TrainedSteps;
using Steps = test::StepsToTrain;

TrainerOptions model(const std::string& name) {
  return {.model = name, .seed = 2};
}

TrainerOptions narrow_resnet() {
  TrainerOptions options = model("resnet18");
  options.width = 8;
  return options;
}

constexpr double kTolerance = 1e-5;

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
}

// As on many GeForce GPUs: the GPUs still add the gradients, but each copy goes through the host.
TEST(GpuTraining, GpusWithoutPeerAccessMatchTwoCpuDevices) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2, .emulated_peer_access = false});
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  TrainerOptions options = model("lenet");
  expect_close(train_on(machine, gpus, options), train_on(machine, {cpu(0), cpu(1)}, options),
               kTolerance);
  options.batch = 4;
  EXPECT_EQ(
      Trainer(test::contexts_of(machine, gpus), options).sum_remark(),
      "gradients are summed on the GPUs by copies between them: NCCL does not run on emulated "
      "GPUs");
}

TEST(GpuTraining, NarrowResnetOnTwoDevicesMatchesTwoCpuDevices) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2});
  const auto matches = [&](const std::vector<Device>& devices, const Steps& run) {
    expect_close(train_on(machine, devices, narrow_resnet(), run),
                 train_on(machine, {cpu(0), cpu(1)}, narrow_resnet(), run), kTolerance);
  };
  for (const Steps& run : {kOneStep, kSlowSteps}) {
    matches({emulated_gpu(0), emulated_gpu(1)}, run);
    matches({emulated_gpu(1), cpu(1)}, run);
  }
}

TEST(GpuTraining, RepeatsBitForBit) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine(kTwoGpus);
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  const Result first = train_on(machine, gpus, model("softmax"));
  const Result second = train_on(machine, gpus, model("softmax"));
  EXPECT_EQ(first.losses, second.losses);
  EXPECT_EQ(first.parameters, second.parameters);
}

// On two GPUs the sum has one order; in host memory it is the same.
TEST(GpuTraining, SumsOnGpusAndInHostMemoryGiveTheSameBits) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.cpu_devices = 1, .emulated_gpus = 2});
  const Steps run{.steps = 2};
  TrainerOptions options = model("softmax");
  const Result on_gpus = train_on(machine, {emulated_gpu(0), emulated_gpu(1)}, options, run);
  options.share_policy = SharePolicy::Listed;
  // The CPU gets one of ten images and none of four: it takes part in the sums without gradients.
  options.shares = {0.45, 0.45, 0.1};
  options.bucket_bytes = 64;  // two buckets
  const Result on_host = train_on(machine, {emulated_gpu(0), emulated_gpu(1), cpu()}, options,
                                  {.steps = 2, .divided = 10});
  EXPECT_EQ(on_host.losses, on_gpus.losses);
  EXPECT_EQ(on_host.parameters, on_gpus.parameters);
}

// The parts of a step are those of its wall time.
TEST(GpuTraining, ReportsThePartsOfAStep) {
  SKIP_UNDER_THREAD_SANITIZER();
  const Dataset data = make_synthetic_garments(6, 1, 1);
  const BatchLoader loader(data.train, 2, BatchOrder::Sequential, 0);
  Machine machine({.cpu_devices = 1, .emulated_gpus = 2});
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0), emulated_gpu(1)}, std::vector{emulated_gpu(0), cpu()}}) {
    TrainerOptions options = model("softmax");
    options.batch = 2;
    const std::vector<DeviceContext*> contexts = test::contexts_of(machine, devices);
    Trainer trainer(contexts, options);
    for (int step = 0; step < 3; ++step) {
      for (const DeviceStep& part : trainer.step(loader, step, 0.1, {}).devices) {
        EXPECT_GT(part.compute_s, 0);
        EXPECT_GE(part.all_reduce_s, part.exposed_s);
        EXPECT_GE(part.exposed_s, 0);
        EXPECT_GE(part.wait_s, 0);
      }
    }
  }
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
  SKIP_UNDER_THREAD_SANITIZER();
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

// Parameters, momentum and running statistics, as files: from a GPU to the CPU, to another GPU, to
// both, and back. Nothing is trained on the way.
TEST(GpuTraining, CheckpointsMoveTheStateBitForBit) {
  const test::TempDir dir;
  const auto folder = [&](int i) { return (dir.path() / std::to_string(i)).string(); };
  const auto state_in = [&](int i) {
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder(i))) {
      if (file.path().extension() == ".safetensors") {
        files.push_back(lab::files::read_text_file(file.path()));
      }
    }
    std::ranges::sort(files);
    return files;
  };
  const auto train = [&](const std::vector<Device>& devices, int from, int to) {
    StartTraining request = request_on(devices);
    request.model = "convnet";
    request.synthetic_train = 4;
    request.synthetic_test = 2;
    request.batch = 2;
    request.steps = 2;
    request.convolution = "rule";
    if (from >= 0) request.resume_dir = folder(from);
    request.checkpoint_dir = folder(to);
    return losses_of(request).size();
  };
  EXPECT_EQ(train({emulated_gpu(0)}, -1, 0), 2U);
  const std::vector<std::string> state = state_in(0);
  ASSERT_EQ(state.size(), 2U) << "the model and the optimizer";
  const std::vector<std::vector<Device>> stations = {{cpu()},
                                                     {emulated_gpu(1)},
                                                     {emulated_gpu(1), cpu()},
                                                     {cpu(), emulated_gpu(0)},
                                                     {emulated_gpu(0)}};
  for (std::size_t i = 0; i < stations.size(); ++i) {
    EXPECT_EQ(train(stations[i], static_cast<int>(i), static_cast<int>(i) + 1), 0U);
    EXPECT_TRUE(state_in(static_cast<int>(i) + 1) == state) << to_string(stations[i][0]);
  }
}

// However late the losses are read; checkpoints are those of their step.
TEST(GpuTraining, StepsAheadOfTheirLossesGiveTheSameBits) {
  const auto run = [](std::int64_t ahead, const std::vector<Device>& devices) {
    const test::TempDir dir;
    StartTraining request = request_on(devices);
    request.steps_ahead = ahead;
    request.checkpoint_dir = dir.path().string();
    request.checkpoint_every = 7;  // the newest two remain: of steps 7 and 8
    const std::vector<double> losses = losses_of(request);
    std::vector<std::string> files;
    for (const auto& file : std::filesystem::recursive_directory_iterator(dir.path())) {
      if (file.path().extension() == ".safetensors")
        files.push_back(lab::files::read_text_file(file.path()));
    }
    std::ranges::sort(files);
    return std::pair(losses, files);
  };
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0)}, std::vector{emulated_gpu(0), emulated_gpu(1)}}) {
    const auto expected = run(0, devices);
    EXPECT_EQ(expected.first.size(), 8U);
    EXPECT_GE(expected.second.size(), 2U);
    for (const std::int64_t ahead : {3, 1, 31}) {
      EXPECT_EQ(run(ahead, devices), expected) << ahead;
      if (kThreadSanitizer) break;
    }
  }
}

// The GPU without images makes the same updates as the other one.
TEST(GpuTraining, AGpuWithoutImagesKeepsUp) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine(kTwoGpus);
  TrainerOptions options = model("softmax");
  options.share_policy = SharePolicy::Listed;
  options.shares = {1, 0};
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  const Result both = train_on(machine, gpus, options);
  const Result one = train_on(machine, {emulated_gpu(0)}, model("softmax"));
  EXPECT_EQ(both.losses, one.losses);
  EXPECT_EQ(both.parameters, one.parameters);
}

TEST(GpuTraining, RefusesNcclEvenWhereOneDeviceHasAllImages) {
  Machine machine({.cpu_devices = 1, .emulated_gpus = 2});
  TrainerOptions options = model("softmax");
  options.sum.way = GradientSum::Nccl;
  options.share_policy = SharePolicy::Listed;
  options.shares = {1, 0};
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0), emulated_gpu(1)}, std::vector{emulated_gpu(0), cpu()}}) {
    const std::string message =
        test::message_of([&] { train_on(machine, devices, options); }, Errc::Unsupported);
    EXPECT_NE(message.find("--sum auto"), std::string::npos) << message;
  }
}

TEST(GpuTraining, LossesThatAreNotFiniteStopIt) {
  SKIP_UNDER_THREAD_SANITIZER();
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0)}, std::vector{emulated_gpu(0), emulated_gpu(1)}}) {
    StartTraining request = request_on(devices);
    request.model = "mlp";
    request.lr = 1e30;
    std::vector<std::string> messages;
    for (const std::int64_t ahead : {0, 16}) {
      request.steps_ahead = ahead;
      messages.push_back(test::message_of([&] { losses_of(request); }, Errc::InvalidArgument));
    }
    EXPECT_NE(messages[0].find("diverged"), std::string::npos) << messages[0];
    EXPECT_EQ(messages[1], messages[0]);
  }
}

TEST(GpuTraining, NamesTheMemoryThatIsMissing) {
  StartTraining request = request_on({emulated_gpu(0)});
  request.model = "resnet18";
  request.width = 16;
  request.batch = 1 << 14;
  const std::string message = test::message_of([&] { losses_of(request); }, Errc::OutOfMemory);
  EXPECT_NE(message.find("emu:0"), std::string::npos) << message;
  EXPECT_NE(message.find("2.00 GiB"), std::string::npos) << message;
  EXPECT_NE(message.find("resnet18 can take batches of up to"), std::string::npos) << message;
}

TEST(GpuTraining, RefusesWhatADeviceCannotDo) {
  StartTraining request = request_on({cpu()});
  request.dtype = Precision::TF32;
  EXPECT_NE(test::message_of([&] { losses_of(request); }, Errc::InvalidArgument).find("tf32"),
            std::string::npos);
  request = request_on({emulated_gpu(0)});
  request.kernels = Kernels::Library;
  EXPECT_EQ(test::message_of([&] { losses_of(request); }, Errc::Unsupported),
            "training: emu:0: emulated GPUs compute with the lab's kernels only; choose --kernels "
            "lab");
  request = request_on({emulated_gpu(0)});
  request.profile = true;
  EXPECT_NE(test::message_of([&] { losses_of(request); }, Errc::Unsupported).find("never timed"),
            std::string::npos);
}

// On the CPU, the profile of the comparison remains.
TEST(GpuTraining, ComparesNoKernelsWithoutLibraries) {
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0)}, std::vector{cpu(), emulated_gpu(0)}}) {
    StartTraining request = request_on(devices);
    request.compare_kernels = true;
    request.profile = true;
    request.steps = 2;
    test::Probe probe(kTwoGpus);
    probe.run(*make_training_experiment(request));
    EXPECT_EQ(probe.all<StepDone>().size(), 2U);
    const auto skipped = probe.all<Skipped>();
    ASSERT_EQ(skipped.size(), 1U);
    EXPECT_EQ(skipped[0].what, "library kernels on emu:0");
    EXPECT_EQ(skipped[0].reason,
              "emulated GPUs compute with the lab's kernels only; choose --kernels lab");
    const auto profiles = probe.all<TrainingProfile>();
    EXPECT_EQ(profiles.empty(), devices.size() == 1);
    for (const TrainingProfile& profile : profiles) EXPECT_EQ(profile.totals.size(), 1U);
  }
}

TEST(GpuLibraryTraining, ComparesNoKernelsInBf16) {
  test::FakeLibraries fake;
  StartTraining request = request_on({emulated_gpu(1)});
  request.compare_kernels = true;
  request.dtype = Precision::BF16;
  test::Probe probe({.emulated_gpus = 2, .emulated_library = fake.maker()});
  probe.run(*make_training_experiment(request));
  EXPECT_FALSE(probe.all<StepDone>().empty());
  const auto skipped = probe.all<Skipped>();
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_NE(skipped[0].reason.find("cuDNN"), std::string::npos) << skipped[0].reason;
}

TEST(GpuTraining, ReportsAndStopsAnEvaluation) {
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0)}, std::vector{emulated_gpu(0), emulated_gpu(1)}}) {
    StartTraining request = request_on(devices);
    request.model = "softmax";
    request.synthetic_test = 10'000;
    request.steps = 1;
    test::Probe probe(kTwoGpus);
    std::vector<double> done;
    const auto tested_twice = [&](const Event& event) {
      const auto* progress = std::get_if<Progress>(&event.payload);
      const bool tests =
          progress != nullptr && progress->what.find(" test images") != std::string::npos;
      if (tests) done.push_back(progress->done);
      return done.size() >= 2;
    };
    test::message_of([&] { probe.run_until(*make_training_experiment(request), tested_twice); },
                     Errc::Cancelled);
    ASSERT_GE(done.size(), 2U);
    EXPECT_LT(done[0], done[1]);
    EXPECT_LT(done.back(), 1);
    EXPECT_TRUE(probe.all<EpochDone>().empty());
  }
}

TEST(GpuTraining, ComputesInTf32AndBf16) {
  SKIP_UNDER_THREAD_SANITIZER();
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

// ---- Automatic shares of an emulated GPU and a CPU device

// Trains LeNet on both. The calling thread drives the GPU.
class GpuAndCpu {
 public:
  explicit GpuAndCpu(const TrainerOptions& options)
      : trainer_(test::contexts_of(machine_, {emulated_gpu(0), cpu()}), options) {}

  // The CPU takes `slower` times as long for an image as the GPU took in the step before.
  StepResult step(double slower) {
    const std::thread::id caller = std::this_thread::get_id();
    const std::chrono::duration<double> pause(slower * gpu_image_s_ * cpu_images_);
    nn::PassOptions pass;
    pass.gradient_ready = [&](std::size_t parameter) {
      if (parameter == 0 && std::this_thread::get_id() != caller) {
        std::this_thread::sleep_for(pause);
      }
    };
    StepResult result = trainer_.step(loader_, steps_++ % kSteps, 0.1, pass);
    const DeviceStep& gpu = result.devices.at(0);
    if (gpu.images > 0) gpu_image_s_ = gpu.compute_s / static_cast<double>(gpu.images);
    cpu_images_ = static_cast<double>(result.devices.at(1).images);
    return result;
  }
  std::vector<float> parameters() {
    trainer_.gather_state();
    const auto values = trainer_.network().flat_parameters();
    return {values.begin(), values.end()};
  }
  Trainer& trainer() { return trainer_; }

  static constexpr std::int64_t kBatch = 8;

 private:
  static constexpr std::int64_t kSteps = 4;
  Machine machine_{{.cpu_devices = 1, .emulated_gpus = 1, .check_emulation = false}};
  const Dataset data_ = make_synthetic_garments(kSteps * kBatch, 1, 1);
  const BatchLoader loader_{data_.train, kBatch, BatchOrder::Sequential, 0};
  Trainer trainer_;
  std::int64_t steps_ = 0;
  double gpu_image_s_ = 0, cpu_images_ = 0;  // of the latest step
};

TrainerOptions shared_lenet(SharePolicy policy, std::vector<double> shares = {}) {
  TrainerOptions options = model("lenet");
  options.batch = GpuAndCpu::kBatch;
  options.share_policy = policy;
  options.shares = std::move(shares);
  return options;
}

struct SharedSteps {
  std::vector<std::vector<double>> images;  // of each device, by step
  std::vector<double> losses;
  std::vector<float> parameters;
};

std::vector<double> images_of(const StepResult& step) {
  std::vector<double> images;
  for (const DeviceStep& device : step.devices) {
    images.push_back(static_cast<double>(device.images));
  }
  return images;
}

// Trains until the shares are no longer equal, and two steps longer.
void train_with_auto_shares(double slower, SharedSteps& into) {
  GpuAndCpu training(shared_lenet(SharePolicy::Auto));
  for (int unequal = 0; unequal < 3;) {
    ASSERT_LT(into.losses.size(), 100U) << "the shares stay equal";
    const StepResult step = training.step(slower);
    into.images.push_back(images_of(step));
    into.losses.push_back(step.loss);
    if (into.images.back()[0] != into.images.back()[1]) ++unequal;
  }
  into.parameters = training.parameters();
}

// Trains with the same division of each batch, but by lists.
void expect_same_with_listed_shares(const SharedSteps& expected) {
  std::vector<double> shares = expected.images.front();
  GpuAndCpu training(shared_lenet(SharePolicy::Listed, shares));
  std::vector<double> losses;
  for (const std::vector<double>& images : expected.images) {
    if (images != shares) {
      training.trainer().set_shares(SharePolicy::Listed, images, GpuAndCpu::kBatch);
      shares = images;
    }
    const StepResult step = training.step(0);
    EXPECT_EQ(images_of(step), images);
    losses.push_back(step.loss);
  }
  EXPECT_EQ(losses, expected.losses);
  EXPECT_EQ(training.parameters(), expected.parameters);
}

TEST(GpuTraining, AutoSharesGiveASlowCpuFewerImages) {
  SKIP_UNDER_THREAD_SANITIZER();
  SharedSteps steps;
  ASSERT_NO_FATAL_FAILURE(train_with_auto_shares(3, steps));
  EXPECT_GT(steps.images.back()[0], steps.images.back()[1]);
  EXPECT_GT(steps.images.back()[1], 0);
  expect_same_with_listed_shares(steps);
}

// Without a pause the emulated GPU is hundreds of times slower than the CPU.
TEST(GpuTraining, AutoSharesGiveASlowGpuFewerImages) {
  SKIP_UNDER_THREAD_SANITIZER();
  SharedSteps steps;
  ASSERT_NO_FATAL_FAILURE(train_with_auto_shares(0, steps));
  EXPECT_LT(steps.images.back()[0], steps.images.back()[1]);
  expect_same_with_listed_shares(steps);
}

// ---- By cuDNN and cuBLAS, of which these are fakes

class LibraryTraining {
 public:
  ~LibraryTraining() {
    machine_.reset();
    EXPECT_EQ(fake_.problems(), std::vector<std::string>{});
    EXPECT_EQ(fake_.live_handles() + fake_.live_descriptors(), 0);
  }
  MachineOptions options() const {
    return {.cpu_devices = 2, .emulated_gpus = 2, .emulated_library = fake_.maker()};
  }
  Machine& machine() {
    if (!machine_) machine_ = std::make_unique<Machine>(options());
    return *machine_;
  }
  test::FakeLibraries& fake() { return fake_; }

 private:
  test::FakeLibraries fake_;
  std::unique_ptr<Machine> machine_;
};

TrainerOptions by_library(TrainerOptions options) {
  options.kernels.library = true;
  return options;
}

TEST(GpuLibraryTraining, SmallModelsMatchTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  LibraryTraining library;
  for (const char* name : {"mlp", "lenet"}) {
    SCOPED_TRACE(name);
    const Result expected = train_on(library.machine(), {cpu()}, model(name));
    expect_close(train_on(library.machine(), {emulated_gpu(0)}, by_library(model(name))), expected,
                 kTolerance);
  }
  EXPECT_GT(library.fake().calls("cublasGemmEx"), 0);
  EXPECT_GT(library.fake().calls("cudnnConvolutionBackwardData"), 0);
  EXPECT_GT(library.fake().calls("cudnnPoolingBackward"), 0);
}

TEST(GpuLibraryTraining, NarrowResnetMatchesTheCpu) {
  SKIP_UNDER_THREAD_SANITIZER();
  LibraryTraining library;
  for (const Steps& run : {kOneStep, kSlowSteps}) {
    const Result expected = train_on(library.machine(), {cpu()}, narrow_resnet(), run);
    expect_close(train_on(library.machine(), {emulated_gpu(0)}, by_library(narrow_resnet()), run),
                 expected, kTolerance);
  }
  EXPECT_GT(library.fake().calls("cudnnBatchNormalizationBackward"), 0);
}

TEST(GpuLibraryTraining, AlternatesWithTheLabsKernels) {
  SKIP_UNDER_THREAD_SANITIZER();
  LibraryTraining library;
  const Steps run{.steps = 5, .alternate = true};  // the last steps of both are graphs
  expect_close(train_on(library.machine(), {emulated_gpu(0)}, by_library(model("lenet")), run),
               train_on(library.machine(), {cpu()}, model("lenet"), {.steps = 5}), kTolerance);
  EXPECT_GT(library.fake().calls("cudnnPoolingBackward"), 0);
}

TEST(GpuLibraryTraining, TwoGpusMatchTwoCpuDevices) {
  SKIP_UNDER_THREAD_SANITIZER();
  LibraryTraining library;
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  expect_close(train_on(library.machine(), gpus, by_library(model("lenet"))),
               train_on(library.machine(), {cpu(0), cpu(1)}, model("lenet")), kTolerance);
  expect_close(train_on(library.machine(), gpus, by_library(narrow_resnet()), kOneStep),
               train_on(library.machine(), {cpu(0), cpu(1)}, narrow_resnet(), kOneStep),
               kTolerance);
}

TEST(GpuLibraryTraining, RunsThroughARequest) {
  LibraryTraining library;
  const std::vector<double> expected = losses_of(request_on({cpu()}));
  StartTraining request = request_on({emulated_gpu(0)});
  request.kernels = Kernels::Library;
  test::Probe probe(library.options());
  probe.run(*make_training_experiment(request));
  const auto steps = probe.all<StepDone>();
  ASSERT_EQ(steps.size(), expected.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(steps[i].loss, expected[i], kTolerance * expected[i]);
  }
}

TEST(GpuLibraryTraining, RefusesBf16BeforeItStarts) {
  LibraryTraining library;
  StartTraining request = request_on({emulated_gpu(1)});
  request.kernels = Kernels::Library;
  request.dtype = Precision::BF16;
  test::Probe probe(library.options());
  EXPECT_EQ(
      test::message_of([&] { probe.run(*make_training_experiment(request)); }, Errc::Unsupported),
      "training: emu:1: with cuDNN 9.19.0, cuBLAS 13.1, the lab computes in f32 and tf32; "
      "choose --dtype tf32, or --kernels lab for bf16");
}

}  // namespace
}  // namespace lab
