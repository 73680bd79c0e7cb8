// A batch that is too large is refused with the largest one for the devices and shares.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compute/core/units.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/train/trainer.h"
#include "tests/support/contexts.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

// Leaves `bytes` of the device's memory.
void leave_room(Machine& machine, Device device, std::int64_t bytes) {
  MemoryAccount& memory = machine.at(device).memory();
  memory.reserve(memory.free_bytes() - bytes, {});
}

// The N of "batches of up to N images on DEVICES" at the end of a refusal.
std::int64_t named_batch(const std::string& message, const std::string& devices) {
  const std::string before = " can take batches of up to ", after = " images on " + devices;
  const std::size_t at = message.find(before), end = message.find(after);
  const bool found =
      at != std::string::npos && end != std::string::npos && end + after.size() == message.size();
  EXPECT_TRUE(found) << message;
  return found ? std::stoll(message.substr(at + before.size())) : 1;
}

// Packed arenas grow with the batch, but not evenly.
std::int64_t clearly_more(std::int64_t batch) {
  return batch + batch / 32 + 1;
}

struct DividedTraining {
  std::vector<Device> devices;
  std::vector<double> shares;  // empty: `policy` divides
  SharePolicy policy = SharePolicy::Listed;
  std::string named;
};

std::int64_t largest_for(Machine& machine, const DividedTraining& training, Errc code) {
  TrainerOptions options{.model = "resnet18",
                         .width = 8,
                         .sgd = {.momentum = 0.9},
                         .share_policy = training.policy,
                         .shares = training.shares,
                         .data_bytes = 4 * kMiB};
  const auto train = [&](std::int64_t batch) {
    options.batch = batch;
    Trainer(test::contexts_of(machine, training.devices), options);
  };
  const std::int64_t refused = code == Errc::InvalidArgument ? 1 << 24 : 1 << 14;
  const std::int64_t fits =
      named_batch(test::message_of([&] { train(refused); }, code), training.named);
  EXPECT_NO_THROW(train(fits)) << fits;
  test::message_of([&] { train(clearly_more(fits)); }, Errc::OutOfMemory);
  return fits;
}

TEST(LargestBatch, IsTheWholeBatchOfAllDevices) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2});
  const Device first = emulated_gpu(0), second = emulated_gpu(1);
  leave_room(machine, first, 32 * kMiB);
  leave_room(machine, second, 64 * kMiB);
  leave_room(machine, cpu(1), 64 * kMiB);
  const auto largest = [&](const DividedTraining& training) {
    return static_cast<double>(largest_for(machine, training, Errc::OutOfMemory));
  };
  const double one = largest({{first}, {}, SharePolicy::Equal, "emu:0"});
  EXPECT_GT(one, 20);
  const double equal = largest({{first, second}, {}, SharePolicy::Equal, "emu:0, emu:1"});
  EXPECT_NEAR(equal, 2 * one, 0.1 * one) << "the GPU with less memory decides";
  EXPECT_EQ(largest({{first, second}, {}, SharePolicy::Auto, "emu:0, emu:1"}), equal)
      << "automatic shares begin with equal ones";
  const double listed =
      largest({{first, second}, {1, 2}, SharePolicy::Listed, "emu:0, emu:1 with these shares"});
  EXPECT_NEAR(listed, 3 * one, 0.2 * one);
  largest({{first, cpu(1)}, {1, 3}, SharePolicy::Listed, "emu:0, cpu:1 with these shares"});
  largest({{cpu(1)}, {}, SharePolicy::Equal, "cpu:1"});
}

TEST(LargestBatch, IsNamedForArraysThatTheKernelsCannotAddress) {
  SKIP_UNDER_THREAD_SANITIZER();
  Machine machine({.emulated_gpus = 1});
  leave_room(machine, emulated_gpu(0), 32 * kMiB);
  largest_for(machine, {{emulated_gpu(0)}, {}, SharePolicy::Equal, "emu:0"}, Errc::InvalidArgument);
}

// With the data set, which is copied to each GPU after the batch has its memory.
void expect_named_batch_trains(const std::vector<Device>& devices, const std::string& named) {
  test::Probe probe({.emulated_gpus = 2});
  StartTraining request;
  request.model = "softmax";
  request.devices = devices;
  request.synthetic_train = 180;
  request.synthetic_test = 20;
  request.momentum = 0.9;
  request.steps = 1;
  const std::int64_t data_bytes = 200 * (28 * 28 + 5);
  const std::int64_t room = data_bytes + (kMiB / 2 - data_bytes) / std::ssize(devices) * 2;
  for (const Device device : devices) leave_room(probe.machine, device, room);
  const auto train = [&](std::int64_t batch) {
    request.batch = batch;
    probe.run(*make_training_experiment(request));
  };
  const std::int64_t fits =
      named_batch(test::message_of([&] { train(1 << 20); }, Errc::OutOfMemory), named);
  EXPECT_GT(fits, 100);
  ASSERT_LE(fits, request.synthetic_train) << "else no step has the whole batch";
  train(fits);
  const auto steps = probe.all<StepDone>();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].images, fits);
  named_batch(test::message_of([&] { train(clearly_more(fits)); }, Errc::OutOfMemory), named);
}

TEST(LargestBatch, Trains) {
  SKIP_UNDER_THREAD_SANITIZER();
  expect_named_batch_trains({emulated_gpu(0)}, "emu:0");
  expect_named_batch_trains({emulated_gpu(0), emulated_gpu(1)}, "emu:0, emu:1");
}

}  // namespace
}  // namespace lab
