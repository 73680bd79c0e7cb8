// Steps that emulated GPUs run ahead of their losses, against those whose loss is read at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/nn/executor.h"
#include "compute/train/trainer.h"
#include "tests/support/contexts.h"
#include "tests/support/thread_sanitizer.h"
#include "tests/support/trained_steps.h"

namespace lab {
namespace {

TrainerOptions softmax_steps() {
  return {.model = "softmax", .seed = 2};
}

// As many as can be queued, with results taken at an uneven pace.
TEST(GpuStepsAhead, ManyQueuedStepsGiveTheBitsOfSingleOnes) {
  SKIP_UNDER_THREAD_SANITIZER();
  constexpr int kSteps = 48;
  static_assert(kSteps > static_cast<int>(nn::kMaxQueuedSteps));
  const Dataset data = make_synthetic_garments(kSteps * 2, 1, 1);
  const BatchLoader loader(data.train, 2, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 2});
  TrainerOptions options = softmax_steps();
  options.batch = 2;
  options.sgd.momentum = 0.9;
  Trainer single({&machine.at(emulated_gpu(0))}, options);
  Trainer ahead({&machine.at(emulated_gpu(1))}, options);
  std::vector<double> expected, losses;
  for (int step = 0; step < kSteps; ++step) {
    expected.push_back(single.step(loader, step, 0.01 * (step % 7), {}).loss);
    if (ahead.queued() == nn::kMaxQueuedSteps) {
      EXPECT_THROW(ahead.queue_step(loader, step, 0.1, {}), Error);
      for (int i = 0; i <= step % 5; ++i) losses.push_back(ahead.finish_step().loss);
    }
    ahead.queue_step(loader, step, 0.01 * (step % 7), {});
  }
  while (ahead.queued() > 0) losses.push_back(ahead.finish_step().loss);
  EXPECT_EQ(losses, expected);
  single.gather_state();
  ahead.gather_state();
  EXPECT_TRUE(
      std::ranges::equal(ahead.network().flat_parameters(), single.network().flat_parameters()));
}

// The second GPU has fewer images than the first, and none in the last batch.
TEST(GpuStepsAhead, QueuedStepsOnSeveralGpusGiveTheBitsOfSingleOnes) {
  SKIP_UNDER_THREAD_SANITIZER();
  constexpr int kSteps = 40;
  static_assert(kSteps > static_cast<int>(nn::kMaxQueuedSteps));
  const Dataset data = make_synthetic_garments((kSteps - 1) * 5 + 1, 1, 1);
  const BatchLoader loader(data.train, 5, BatchOrder::Sequential, 0);
  ASSERT_EQ(loader.batch_size(kSteps - 1), 1);
  Machine machine({.emulated_gpus = 3});
  TrainerOptions options = softmax_steps();
  options.batch = 5;
  options.sgd.momentum = 0.9;
  options.bucket_bytes = 64;  // two buckets
  options.share_policy = SharePolicy::Listed;
  options.shares = {0.6, 0.4, 0};
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1), emulated_gpu(2)};
  Trainer single(test::contexts_of(machine, gpus), options);
  Trainer ahead(test::contexts_of(machine, gpus), options);
  ASSERT_TRUE(ahead.can_queue());
  std::vector<double> expected, losses;
  const auto take = [&] {
    const StepResult& result = ahead.finish_step();
    losses.push_back(result.loss);
    ASSERT_EQ(result.devices.size(), 3U);
    EXPECT_EQ(result.devices[0].images + result.devices[1].images, result.images);
    for (const DeviceStep& part : result.devices) {
      EXPECT_EQ(part.compute_s > 0, part.device != emulated_gpu(2));
      EXPECT_GE(part.all_reduce_s, part.exposed_s);
      EXPECT_GE(part.wait_s, 0);
    }
    EXPECT_GT(result.devices[0].all_reduce_s, 0);
    EXPECT_GT(result.gpu_s, 0);
  };
  ahead.begin_steps();
  for (int step = 0; step < kSteps; ++step) {
    const double lr = 0.01 * (step % 7);
    expected.push_back(single.step(loader, step, lr, {}).loss);
    if (ahead.queued() == nn::kMaxQueuedSteps) {
      for (int i = 0; i <= step % 5; ++i) take();
    }
    ahead.queue_step(loader, step, lr, {});
  }
  while (ahead.queued() > 0) take();
  EXPECT_EQ(losses, expected);
  single.gather_state();
  ahead.gather_state();
  EXPECT_TRUE(
      std::ranges::equal(ahead.network().flat_parameters(), single.network().flat_parameters()));
}

// Of 11 images the last GPU has one, of 10 it has two.
TEST(GpuStepsAhead, AQueuedStepCanHaveMoreImagesOnAGpuThanAWholeBatch) {
  constexpr int kWholeBatches = 3;  // queued, recorded, replayed
  const Dataset data = make_synthetic_garments(kWholeBatches * 11 + 10, 1, 1);
  const BatchLoader loader(data.train, 11, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 3});
  TrainerOptions options = softmax_steps();
  options.batch = 11;
  options.share_policy = SharePolicy::Listed;
  options.shares = {6, 6, 2};
  const auto contexts =
      test::contexts_of(machine, {emulated_gpu(0), emulated_gpu(1), emulated_gpu(2)});
  Trainer single(contexts, options);
  Trainer ahead(contexts, options);
  for (int step = 0; step <= kWholeBatches; ++step) ahead.queue_step(loader, step, 0.1, {});
  for (int step = 0; step <= kWholeBatches; ++step) {
    const StepResult& result = ahead.finish_step();
    EXPECT_EQ(result.devices[2].images, step < kWholeBatches ? 1 : 2);
    EXPECT_EQ(result.loss, single.step(loader, step, 0.1, {}).loss);
  }
  single.gather_state();
  ahead.gather_state();
  EXPECT_TRUE(
      std::ranges::equal(ahead.network().flat_parameters(), single.network().flat_parameters()));
}

TEST(GpuStepsAhead, QueuedStepsWithBatchNormGiveTheBitsOfSingleOnes) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.emulated_gpus = 2});
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  const TrainerOptions options{.model = "convnet", .seed = 2};
  const test::TrainedSteps single = test::train_on(machine, gpus, options);
  const test::TrainedSteps ahead = test::train_on(machine, gpus, options, {.ahead = true});
  EXPECT_EQ(ahead.losses, single.losses);
  EXPECT_EQ(ahead.parameters, single.parameters);
  EXPECT_EQ(ahead.variance, single.variance);
}

// A stop takes effect at the end of a step, so that its checkpoint can continue.
TEST(GpuStepsAhead, AStopLeavesQueuedStepsWhole) {
  const Dataset data = make_synthetic_garments(16, 1, 1);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 2});
  TrainerOptions options = softmax_steps();
  options.batch = 4;
  const auto contexts = test::contexts_of(machine, {emulated_gpu(0), emulated_gpu(1)});
  Trainer expected(contexts, options);
  for (int step = 0; step < 4; ++step) expected.step(loader, step, 0.1, {});
  expected.gather_state();
  std::stop_source stop;
  Trainer trainer(contexts, options, stop.get_token());
  for (int step = 0; step < 2; ++step) trainer.queue_step(loader, step, 0.1, {});
  stop.request_stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (int step = 2; step < 4; ++step) trainer.queue_step(loader, step, 0.1, {});
  while (trainer.queued() > 0) EXPECT_TRUE(std::isfinite(trainer.finish_step().loss));
  EXPECT_TRUE(trainer.take_own_state());
  EXPECT_TRUE(std::ranges::equal(trainer.network().flat_parameters(),
                                 expected.network().flat_parameters()));
}

// Measured shares need the times of each step, and sums in host memory the host.
TEST(GpuStepsAhead, StepsAreQueuedWhereOnlyGpusTakePart) {
  Machine machine({.cpu_devices = 1, .emulated_gpus = 2});
  TrainerOptions options = softmax_steps();
  options.batch = 4;
  const std::vector<Device> gpus = {emulated_gpu(0), emulated_gpu(1)};
  EXPECT_TRUE(Trainer(test::contexts_of(machine, gpus), options).can_queue());
  EXPECT_FALSE(Trainer(test::contexts_of(machine, {cpu()}), options).can_queue());
  EXPECT_FALSE(Trainer(test::contexts_of(machine, {cpu(), emulated_gpu(0)}), options).can_queue());
  options.share_policy = SharePolicy::Auto;
  EXPECT_FALSE(Trainer(test::contexts_of(machine, gpus), options).can_queue());
}

TEST(GpuStepsAhead, TimesEachQueuedStep) {
  const Dataset data = make_synthetic_garments(16, 1, 1);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 2});
  TrainerOptions options = softmax_steps();
  options.batch = 4;
  for (const std::vector<Device>& devices :
       {std::vector{emulated_gpu(0)}, std::vector{emulated_gpu(0), emulated_gpu(1)}}) {
    Trainer trainer(test::contexts_of(machine, devices), options);
    ASSERT_TRUE(trainer.can_queue());
    double seconds = 0;
    const auto take = [&] {
      const StepResult& result = trainer.finish_step();
      EXPECT_EQ(result.images, 4);
      EXPECT_GT(result.loss, 0);
      EXPECT_GT(result.gpu_s, 0);
      seconds += result.gpu_s;
    };
    const auto begin = std::chrono::steady_clock::now();
    trainer.begin_steps();
    for (int step = 0; step < 3; ++step) trainer.queue_step(loader, step, 0.1, {});
    EXPECT_EQ(trainer.queued(), 3U);
    for (int step = 0; step < 3; ++step) take();
    EXPECT_EQ(trainer.queued(), 0U);
    constexpr std::chrono::milliseconds kPause{300};  // no part of a step
    std::this_thread::sleep_for(kPause);
    trainer.begin_steps();
    trainer.queue_step(loader, 3, 0.1, {});
    take();
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin - kPause;
    EXPECT_LE(seconds, all.count()) << devices.size();
  }
}

// The first GPU's images are black; the second one's make its logits infinite.
TEST(GpuStepsAhead, ALossThatIsNotFiniteOnOneGpuSuppressesTheUpdateOfAll) {
  Dataset data = make_synthetic_garments(4, 1, 1);
  std::ranges::fill(data.train.pixels, std::uint8_t{255});
  std::fill_n(data.train.pixels.begin(), data.train.pixels.size() / 2, std::uint8_t{0});
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 2});
  TrainerOptions options = softmax_steps();
  options.batch = 4;
  Trainer trainer(test::contexts_of(machine, {emulated_gpu(0), emulated_gpu(1)}), options);
  std::ranges::fill(trainer.network().flat_parameters(), 1e38F);
  trainer.send_state();
  trainer.queue_step(loader, 0, 0.1, {});
  const StepResult& result = trainer.finish_step();
  EXPECT_TRUE(std::isnan(result.loss));
  trainer.gather_state();
  EXPECT_EQ(std::ranges::count(trainer.network().flat_parameters(), 1e38F),
            std::ssize(trainer.network().flat_parameters()));
}

}  // namespace
}  // namespace lab
