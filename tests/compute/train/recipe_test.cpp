// What the chapters' trainings leave out: a falling rate, label smoothing, flips, an end at an
// accuracy.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compute/core/units.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/train/gpu_batches.h"
#include "compute/train/trainer.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

// Images that differ in every pixel of a row.
ImageSet gradient_images(std::int64_t n) {
  ImageSet set;
  set.count = n;
  for (std::int64_t i = 0; i < n * 28 * 28; ++i) {
    set.pixels.push_back(static_cast<std::uint8_t>(i % 28 + i / 784));
  }
  for (std::int64_t i = 0; i < n; ++i) set.labels.push_back(static_cast<std::uint8_t>(i % 10));
  return set;
}

struct LoadedBatch {
  std::vector<float> pixels;
  std::vector<std::uint8_t> labels;
  bool operator==(const LoadedBatch&) const = default;
};

TEST(GpuBatches, TakeTheReservedMemory) {
  Machine machine({.emulated_gpus = 1});
  DeviceContext& device = machine.at(emulated_gpu(0));
  const ImageSet images = gradient_images(21), others = gradient_images(5);
  BatchLoader loader(images, 16, BatchOrder::Shuffled, 5);
  const BatchLoader other(others, 5, BatchOrder::Sequential, 0);
  Buffer pixels = named_buffer(device, 16 * 784 * 4, "pixels");
  Buffer labels = named_buffer(device, 16, "labels", DType::U8);
  GpuBatches batches(device);
  batches.reserve(kMiB);
  const std::int64_t used = device.memory().used_bytes();
  const auto load = [&](const BatchLoader& from) {
    batches.load(from, 0, {0, 5}, reinterpret_cast<float*>(pixels.data()),
                 reinterpret_cast<std::uint8_t*>(labels.data()));
    EXPECT_EQ(device.memory().used_bytes(), used);
  };
  for (const std::int64_t epoch : {0, 1}) {
    loader.start_epoch(epoch);
    load(loader);
    load(other);
  }
  batches.reserve(0);
  EXPECT_LT(device.memory().used_bytes(), used);
}

// Loads a batch in slices of at most `slice` images.
LoadedBatch load_on_cpu(const BatchLoader& loader, std::int64_t step, std::int64_t slice) {
  ThreadPool pool({0});
  const std::int64_t n = loader.batch_size(step);
  LoadedBatch batch{.pixels = std::vector<float>(static_cast<std::size_t>(n * 784)),
                    .labels = std::vector<std::uint8_t>(static_cast<std::size_t>(n))};
  for (std::int64_t begin = 0; begin < n; begin += slice) {
    loader.load(step, {begin, std::min(begin + slice, n)}, pool, batch.pixels.data() + begin * 784,
                batch.labels.data() + begin);
  }
  return batch;
}

LoadedBatch load_on_gpu(DeviceContext& device, const BatchLoader& loader, std::int64_t step) {
  const std::int64_t n = loader.batch_size(step);
  Buffer pixels = named_buffer(device, n * 784 * 4, "pixels");
  Buffer labels = named_buffer(device, n, "labels", DType::U8);
  GpuBatches batches(device);
  batches.load(loader, step, {0, n}, reinterpret_cast<float*>(pixels.data()),
               reinterpret_cast<std::uint8_t*>(labels.data()));
  LoadedBatch batch{.pixels = std::vector<float>(static_cast<std::size_t>(n * 784)),
                    .labels = std::vector<std::uint8_t>(static_cast<std::size_t>(n))};
  GpuStream& stream = device.gpu()->main_stream();
  device.gpu()->copy(GpuCopy::DeviceToHost, batch.pixels.data(), pixels.data(), pixels.bytes(),
                     stream);
  device.gpu()->copy(GpuCopy::DeviceToHost, batch.labels.data(), labels.data(), labels.bytes(),
                     stream);
  stream.synchronise();
  return batch;
}

TEST(Flips, MirrorAboutHalfOfTheImagesAnewInEachEpoch) {
  const ImageSet images = gradient_images(200);
  BatchLoader loader(images, 200, BatchOrder::Sequential, 1, Augmentation::Flip);
  std::vector<std::vector<bool>> epochs;
  for (const std::int64_t epoch : {1, 2, 1}) {
    loader.start_epoch(epoch);
    const LoadedBatch batch = load_on_cpu(loader, 0, 200);
    std::vector<bool>& flipped = epochs.emplace_back();
    for (std::size_t i = 0; i < 200; ++i) {
      const float* row = batch.pixels.data() + i * 784 + 28;
      flipped.push_back(row[0] > row[27]);
      for (std::size_t x = 0; x < 28; ++x) {
        const std::size_t from = i * 784 + 28 + (flipped[i] ? 27 - x : x);
        EXPECT_EQ(row[x], static_cast<float>(images.pixels[from]) / 255.0F);
      }
    }
    const auto n = std::ranges::count(flipped, true);
    EXPECT_GT(n, 70);
    EXPECT_LT(n, 130);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_EQ(epochs[0], epochs[2]);
}

TEST(Flips, AreTheSameOnEveryDeviceAndInEverySlice) {
  Machine machine({.emulated_gpus = 1});
  const ImageSet images = gradient_images(21);
  BatchLoader loader(images, 16, BatchOrder::Shuffled, 5, Augmentation::Flip);
  loader.start_epoch(3);
  for (std::int64_t step = 0; step < loader.steps_per_epoch(); ++step) {
    const LoadedBatch whole = load_on_cpu(loader, step, 16);
    EXPECT_EQ(load_on_cpu(loader, step, 3), whole);
    EXPECT_EQ(load_on_gpu(machine.at(emulated_gpu(0)), loader, step), whole);
    StagedBatch staged({0});
    staged.prepare(loader, step, {0, loader.batch_size(step)});
    staged.wait();
    const BatchBytes bytes = staged.find(loader, step, {0, loader.batch_size(step)});
    ThreadPool pool({0});
    LoadedBatch later = whole;
    std::ranges::fill(later.pixels, 0.0F);
    loader.convert(bytes, loader.batch_size(step), pool, later.pixels.data(), later.labels.data());
    EXPECT_EQ(later, whole);
  }
}

StartTraining small_recipe() {
  StartTraining request;
  request.model = "mlp";
  request.synthetic_train = 100;
  request.synthetic_test = 20;
  request.batch = 16;
  request.epochs = 3;
  request.momentum = 0.9;
  request.warmup_epochs = 1;
  request.schedule = LrSchedule::Linear;
  request.label_smoothing = 0.1;
  request.augment = Augmentation::Flip;
  return request;
}

std::vector<StepDone> steps_of(const StartTraining& request, const MachineOptions& machine = {}) {
  test::Probe probe(machine);
  probe.run(*make_training_experiment(request));
  return probe.all<StepDone>();
}

TEST(Recipe, ResumesInTheMiddleOfTheSchedule) {
  const std::vector<StepDone> whole = steps_of(small_recipe());
  ASSERT_EQ(whole.size(), 21U);
  for (const std::int64_t stop : {4, 10}) {  // during the warm-up and after it
    const test::TempDir dir;
    StartTraining request = small_recipe();
    request.steps = stop;
    request.checkpoint_dir = dir.path().string();
    steps_of(request);
    request = small_recipe();
    request.resume_dir = dir.path().string();
    const std::vector<StepDone> rest = steps_of(request);
    ASSERT_EQ(rest.size(), whole.size() - static_cast<std::size_t>(stop));
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const StepDone& step = whole[static_cast<std::size_t>(stop) + i];
      EXPECT_EQ(rest[i].loss, step.loss) << step.step;
      EXPECT_EQ(rest[i].lr, step.lr) << step.step;
    }
  }
}

TEST(Recipe, RefusesToResumeWithAnotherScheduleLength) {
  const test::TempDir dir;
  StartTraining request = small_recipe();
  request.steps = 4;
  request.checkpoint_dir = dir.path().string();
  steps_of(request);
  request.resume_dir = dir.path().string();
  request.epochs = 5;
  const std::string message = test::message_of([&] { steps_of(request); }, Errc::InvalidArgument);
  EXPECT_NE(message.find("--epochs 3 / --epochs 5"), std::string::npos) << message;
}

TEST(Recipe, RefusesStepsBeyondTheSchedule) {
  StartTraining request = small_recipe();
  request.steps = 22;
  EXPECT_EQ(test::message_of([&] { steps_of(request); }, Errc::InvalidArgument),
            "training: 22 steps are more than the 21 of 3 epochs, after which the learning rate is "
            "0; raise --epochs");
}

TEST(Recipe, IsTheSameOnEveryKindAndNumberOfDevices) {
  SKIP_UNDER_THREAD_SANITIZER();
  StartTraining request = small_recipe();
  request.model = "softmax";
  request.steps = 3;
  request.evaluate = false;
  const std::vector<StepDone> one = steps_of(request);
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  for (const auto& [devices, machine] :
       {std::pair{std::vector<Device>{cpu(0), cpu(1)}, MachineOptions{.cpu_devices = 2}},
        std::pair{std::vector<Device>{gpus[0]}, MachineOptions{.emulated_gpus = 2}},
        std::pair{gpus, MachineOptions{.emulated_gpus = 2}}}) {
    request.devices = devices;
    const std::vector<StepDone> steps = steps_of(request, machine);
    ASSERT_EQ(steps.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(steps[i].loss, one[i].loss, 1e-5 * one[i].loss) << to_string(devices.front());
    }
  }
}

TEST(Recipe, SmoothingChangesTheTrainingLossOnly) {
  StartTraining request = small_recipe();
  request.steps = 1;
  const double smoothed = steps_of(request).front().loss;
  request.label_smoothing = 0;
  EXPECT_NE(steps_of(request).front().loss, smoothed);

  Machine machine;
  const Dataset data = make_synthetic_garments(8, 8, 1);
  const auto test_loss = [&](double smoothing) {
    Trainer trainer({&machine.at(cpu())},
                    {.model = "mlp", .batch = 8, .kernels = {.label_smoothing = smoothing}});
    return trainer.evaluate(data.test, {}).loss;
  };
  EXPECT_EQ(test_loss(0.3), test_loss(0));
}

TEST(Recipe, StopsAtATestAccuracy) {
  StartTraining request = small_recipe();
  request.stop_at = 0.001;  // reached by any network that is right once
  test::Probe probe;
  probe.run(*make_training_experiment(request));
  EXPECT_EQ(probe.all<EpochDone>().size(), 1U);
  const TrainingDone done = probe.all<TrainingDone>().front();
  EXPECT_EQ(done.steps, 7);
  ASSERT_TRUE(done.reached_s);
  EXPECT_GT(*done.reached_s, 0);
  EXPECT_LE(*done.reached_s, done.seconds);

  request.stop_at = 1;  // out of reach
  test::Probe whole;
  whole.run(*make_training_experiment(request));
  EXPECT_EQ(whole.all<EpochDone>().size(), 3U);
  EXPECT_FALSE(whole.all<TrainingDone>().front().reached_s);
}

}  // namespace
}  // namespace lab
