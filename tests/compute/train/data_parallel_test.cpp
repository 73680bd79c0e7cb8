#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/nn/state_dict.h"
#include "compute/train/trainer.h"
#include "compute/train/training_request.h"
#include "tests/support/contexts.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_sanitizer.h"
#include "tests/support/tiny_network.h"

namespace lab {
namespace {

std::vector<Device> cpus(int n) {
  std::vector<Device> devices;
  devices.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) devices.push_back(cpu(i));
  return devices;
}

StartTraining request_for(const std::string& model, int devices) {
  StartTraining request;
  request.model = model;
  request.synthetic_train = 300;
  request.synthetic_test = 70;
  request.batch = 64;
  request.steps = 8;
  request.devices = cpus(devices);
  return request;
}

// Runs the training and returns its events.
std::unique_ptr<test::Probe> trained(const StartTraining& request, int cpu_devices) {
  auto probe = std::make_unique<test::Probe>(cpu_devices);
  probe->run(*make_training_experiment(request));
  return probe;
}

std::vector<double> losses(const StartTraining& request, int cpu_devices) {
  std::vector<double> all;
  for (const StepDone& step : trained(request, cpu_devices)->all<StepDone>()) {
    all.push_back(step.loss);
  }
  return all;
}

TEST(DataParallel, MatchesOneDeviceIfNoLayerMixesImages) {
  for (const char* model : {"softmax", "mlp", "lenet"}) {
    StartTraining request = request_for(model, 1);
    request.batch = 32;
    request.evaluate = false;
    const std::vector<double> one = losses(request, 1);
    for (const int devices : {2, 3, 16}) {
      request.devices = cpus(devices);
      const std::vector<double> many = losses(request, devices);
      ASSERT_EQ(many.size(), one.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_NEAR(many[i] / one[i], 1, 1e-5) << model << " on " << devices << ", step " << i;
      }
    }
  }
}

TEST(DataParallel, IsReproducible) {
  StartTraining request = request_for("resnet18", 2);
  request.width = 16;
  request.synthetic_train = 6;
  request.batch = 4;
  request.steps = 2;
  request.evaluate = false;
  request.convolution = "rule";  // no measurement
  EXPECT_EQ(losses(request, 2), losses(request, 2));
}

TEST(DataParallel, EvaluationMatchesOneDevice) {
  StartTraining request = request_for("mlp", 1);
  request.steps = 0;
  const auto accuracy = [](StartTraining r, int devices) {
    r.devices = cpus(devices);
    r.steps = 1;
    r.lr = 1e-20;  // the weights do not change
    return trained(r, devices)->all<TrainingDone>().at(0).test_acc;
  };
  const auto one = accuracy(request, 1);
  EXPECT_EQ(accuracy(request, 2), one);
  EXPECT_EQ(accuracy(request, 5), one);
}

TEST(DataParallel, ReportsEachDevicesShareAndTime) {
  const auto probe = trained(request_for("lenet", 3), 3);
  const auto steps = probe->all<StepDone>();
  ASSERT_EQ(steps[0].devices.size(), 3U);
  EXPECT_EQ(steps[0].devices[0].images, 22);
  EXPECT_EQ(steps[0].devices[2].images, 21);
  EXPECT_EQ(steps[0].devices[2].device, cpu(2));
  for (const DeviceStep& d : steps[1].devices) {
    EXPECT_GT(d.compute_s, 0);
    EXPECT_GE(d.wait_s, 0);
    EXPECT_GE(d.all_reduce_s, d.exposed_s);
  }
  const TrainingDone done = probe->all<TrainingDone>().at(0);
  EXPECT_EQ(done.devices, cpus(3));
  EXPECT_GT(done.split.compute_s, 0);
  EXPECT_GE(done.hidden_share, 0);
  EXPECT_LE(done.hidden_share, 1);
}

TEST(DataParallel, SupportsAnyDivisionOfTheBatch) {
  StartTraining request = request_for("lenet", 3);
  const std::vector<double> equal = losses(request, 3);
  request.share_policy = SharePolicy::Listed;
  request.shares = {0, 0.25, 0.75};
  const auto probe = trained(request, 3);
  const auto steps = probe->all<StepDone>();
  EXPECT_EQ(steps[0].devices[0].images, 0);
  EXPECT_EQ(steps[0].devices[2].images, 48);
  for (std::size_t i = 0; i < equal.size(); ++i) EXPECT_NEAR(steps[i].loss / equal[i], 1, 1e-5);
  // More devices than images.
  request = request_for("lenet", 5);
  request.batch = 3;
  EXPECT_EQ(trained(request, 5)->all<StepDone>().at(0).devices.at(4).images, 0);
}

TEST(DataParallel, AutoSharesTrainTheSameNetwork) {
  StartTraining request = request_for("mlp", 2);
  request.steps = 30;
  const std::vector<double> equal = losses(request, 2);
  request.share_policy = SharePolicy::Auto;
  const std::vector<double> measured = losses(request, 2);
  for (std::size_t i = 0; i < equal.size(); ++i) EXPECT_NEAR(measured[i] / equal[i], 1, 1e-4);
}

TEST(DataParallel, AutoSharesSayThatResultsDoNotRepeat) {
  const auto remarks = [](SharePolicy policy, int devices) {
    StartTraining request = request_for("softmax", devices);
    request.steps = 1;
    request.share_policy = policy;
    const auto lines = trained(request, devices)->all<LogLine>();
    return std::ranges::count(lines, std::string(kMeasuredShares), &LogLine::text);
  };
  EXPECT_EQ(remarks(SharePolicy::Auto, 2), 1);
  EXPECT_EQ(remarks(SharePolicy::Equal, 2), 0);
  EXPECT_EQ(remarks(SharePolicy::Auto, 1), 0) << "one device has the whole batch";
}

TEST(DataParallel, KeepsTheRunningStatisticsOfTheFirstDeviceWithAShare) {
  const test::TempDir dir;
  // One thread per device: an odd number of cores would give the devices unequal thread counts, and
  // partial sums over different numbers of threads round differently.
  const int cpu_devices = std::max(2, Machine().info().devices.at(0).threads);
  StartTraining request = request_for("resnet18", 2);
  request.width = 16;
  request.synthetic_train = 4;
  request.batch = 4;
  request.steps = 1;
  request.evaluate = false;
  request.convolution = "rule";
  request.share_policy = SharePolicy::Listed;
  const auto saved = [&](std::vector<double> shares) {
    request.shares = std::move(shares);
    request.save_file = (dir.path() / "r.safetensors").string();
    trained(request, cpu_devices);
    return files::read_file(request.save_file);
  };
  const auto first = saved({1, 0});
  const auto second = saved({0, 1});
  // The share is too small for a single image.
  EXPECT_EQ(saved({0.1, 0.9}), second);
  // The other device contributes nothing, so either device alone gives the same result.
  EXPECT_EQ(first, second);
  EXPECT_NE(first, saved({0.5, 0.5}));
}

// Trainers of a small network with batch norm and momentum, whose batches are divided by `shares`.
class Division {
 public:
  explicit Division(const MachineOptions& options) : machine_(options) {}

  std::unique_ptr<Trainer> trainer(const std::vector<Device>& devices, std::vector<double> shares) {
    TrainerOptions setup;
    setup.plan = test::tiny_plan;
    setup.batch = kBatch;
    setup.sgd.momentum = 0.9;
    setup.share_policy = SharePolicy::Listed;
    setup.shares = std::move(shares);
    return std::make_unique<Trainer>(test::contexts_of(machine_, devices), setup);
  }
  // The same state as in `from`, on all devices.
  std::unique_ptr<Trainer> continued(Trainer& from, const std::vector<Device>& devices,
                                     std::vector<double> shares) {
    from.gather_state();
    auto to = trainer(devices, std::move(shares));
    std::ranges::copy(from.network().flat_parameters(), to->network().flat_parameters().begin());
    std::ranges::copy(from.sgd().velocity(), to->sgd().velocity().begin());
    to->sgd().set_started(from.sgd().started());
    nn::copy_statistics(from.network().running(), to->network().running());
    to->send_state();
    return to;
  }
  std::vector<double> losses(Trainer& trainer, int steps) {
    std::vector<double> all;
    all.reserve(static_cast<std::size_t>(steps) + 1);
    for (int step = 0; step < steps; ++step) {
      all.push_back(trainer.step(loader_, step, 0.01, {}).loss);
    }
    all.push_back(trainer.evaluate(data_.test, {}).loss);
    return all;
  }
  Machine& machine() { return machine_; }

  static constexpr std::int64_t kBatch = 4;

 private:
  Machine machine_;
  const Dataset data_ = make_synthetic_garments(4 * kBatch, 5, 0);
  const BatchLoader loader_{data_.train, kBatch, BatchOrder::Sequential, 0};
};

TEST(DataParallel, IdleDevicesTakeNoPartInSteps) {
  for (const Device other : {cpu(1), emulated_gpu(0)}) {
    if (kThreadSanitizer && is_gpu(other)) break;
    SCOPED_TRACE(to_string(other));
    Division division({.cpu_devices = 2, .emulated_gpus = 1});
    const auto alone = division.trainer({other}, {1});
    const std::vector<double> expected = division.losses(*alone, 3);
    alone->gather_state();
    const std::vector<float> parameters(alone->network().flat_parameters().begin(),
                                        alone->network().flat_parameters().end());
    const auto both = division.trainer({cpu(0), other}, {0, 1});
    ASSERT_EQ(both->idle_devices().size(), 1U);
    EXPECT_EQ(both->idle_devices()[0].device, cpu(0));
    EXPECT_EQ(division.losses(*both, 3), expected);
    both->gather_state();
    EXPECT_TRUE(std::ranges::equal(both->network().flat_parameters(), parameters));
    const std::span<const float> velocity = both->sgd().velocity();
    EXPECT_TRUE(std::ranges::equal(velocity, alone->sgd().velocity()));
    EXPECT_EQ(both->network().running()[0].mean, alone->network().running()[0].mean);
    EXPECT_EQ(both->network().running()[0].batches, 3);
  }
}

TEST(DataParallel, DevicesThatWereIdleContinueFromTheLatestState) {
  using Devices = std::vector<Device>;
  for (const Devices& devices : {Devices{cpu(0), cpu(1)}, Devices{cpu(0), emulated_gpu(0)},
                                 Devices{emulated_gpu(0), emulated_gpu(1), cpu(0)}}) {
    if (kThreadSanitizer && is_gpu(devices[1])) break;
    SCOPED_TRACE(to_string(devices[0]) + " and " + to_string(devices[1]));
    Division division({.cpu_devices = 2, .emulated_gpus = 2});
    std::vector<double> one(devices.size(), 0.0), all(devices.size(), 1.0);
    one[1] = 1;
    const auto changed = division.trainer(devices, one);
    division.losses(*changed, 2);
    const auto expected = division.continued(*changed, devices, all);
    changed->set_shares(SharePolicy::Listed, all, Division::kBatch);
    EXPECT_TRUE(changed->idle_devices().empty());
    EXPECT_EQ(division.losses(*changed, 2), division.losses(*expected, 2));
    std::vector<double> most = all;
    most[0] = 0;
    changed->set_shares(SharePolicy::Listed, most, Division::kBatch);
    const auto rest = division.continued(*changed, devices, most);
    EXPECT_EQ(division.losses(*changed, 2), division.losses(*rest, 2));
  }
}

// A trainer of an mlp on two devices that measures their shares, while a callback slows the first
// one down several hundred times.
struct SlowFirstDevice {
  SlowFirstDevice(std::int64_t batch, std::chrono::milliseconds delay)
      : data(make_synthetic_garments(4 * batch, 5, 0)),
        loader(data.train, batch, BatchOrder::Sequential, 0),
        trainer(test::contexts_of(machine, {cpu(0), cpu(1)}), options_for(batch)) {
    slow.between_ops = [delay] { std::this_thread::sleep_for(delay); };
  }
  static TrainerOptions options_for(std::int64_t batch) {
    TrainerOptions options;
    options.model = "mlp";
    options.batch = batch;
    options.share_policy = SharePolicy::Auto;
    return options;
  }
  const StepResult& step() { return trainer.step(loader, steps++ % 4, 0.01, slow); }

  Machine machine{{.cpu_devices = 2}};
  const Dataset data;
  BatchLoader loader;
  nn::PassOptions slow;
  Trainer trainer;
  int steps = 0;
};

TEST(DataParallel, AutoSharesLeaveOutADeviceThatIsTooSlow) {
  SlowFirstDevice training(8, std::chrono::milliseconds(40));
  Trainer& trainer = training.trainer;
  while (trainer.idle_devices().empty()) {
    ASSERT_LT(training.steps, 40);
    training.step();
  }
  EXPECT_EQ(trainer.idle_devices()[0].device, cpu(0));
  const StepResult& without = training.step();
  EXPECT_EQ(without.devices[0].images, 0);
  EXPECT_EQ(without.devices[0].compute_s + without.devices[0].wait_s, 0);
  EXPECT_EQ(without.devices[1].images, 8);
  EXPECT_EQ(without.devices[1].all_reduce_s, 0);
  trainer.set_shares(SharePolicy::Equal, {}, 8);
  training.slow = {};
  EXPECT_EQ(training.step().devices[0].images, 4);
}

// Bytes that an mlp takes for batches of up to `images`.
std::int64_t mlp_bytes(Machine& machine, std::int64_t images) {
  const nn::Network network(nn::plan_model("mlp"), machine.at(cpu(0)), images);
  return machine.at(cpu(0)).memory().used_bytes();
}

// The second device has memory for 12 of 16 images.
TEST(DataParallel, AutoSharesEndAtADevicesMemory) {
  Machine other({.cpu_devices = 2});
  const std::int64_t room = mlp_bytes(other, 12) - mlp_bytes(other, 8);
  // So slow that the second device's share would be more than 12 even under emulation.
  SlowFirstDevice training(16, std::chrono::milliseconds(15));
  Trainer& trainer = training.trainer;
  MemoryAccount& memory = training.machine.at(cpu(1)).memory();
  const TensorId others = memory.reserve(memory.free_bytes() - room, {});
  const auto step = [&] { return training.step().devices.at(1).images; };
  while (trainer.full_devices().empty()) {
    ASSERT_LT(training.steps, 100);
    step();
  }
  const std::vector<Trainer::FullDevice> full = trainer.full_devices();
  EXPECT_EQ(full, (std::vector<Trainer::FullDevice>{{{0, cpu(1)}, 12}}));
  // Later decisions keep to the limit, and do not try again.
  memory.release(others);
  for (int i = 0; i < 14; ++i) EXPECT_EQ(step(), 12);
  EXPECT_EQ(trainer.full_devices(), full);
  // A new choice of shares forgets it.
  trainer.set_shares(SharePolicy::Auto, {}, 16);
  EXPECT_TRUE(trainer.full_devices().empty());
  training.steps = 0;
  while (step() <= 12) ASSERT_LT(training.steps, 100);
  EXPECT_TRUE(trainer.full_devices().empty());
}

// The second device has memory for 12 images; of a batch of 16 it would get 14.
TEST(DataParallel, RefusedSharesNameTheLargestBatch) {
  Machine other({.cpu_devices = 2});
  const std::int64_t room = mlp_bytes(other, 12) - mlp_bytes(other, 8);
  Machine machine({.cpu_devices = 2});
  Trainer trainer(test::contexts_of(machine, {cpu(0), cpu(1)}), {.model = "mlp", .batch = 16});
  MemoryAccount& memory = machine.at(cpu(1)).memory();
  memory.reserve(memory.free_bytes() - room, {});
  const auto divide = [&] { trainer.set_shares(SharePolicy::Listed, {1, 7}, 16); };
  const std::string message = test::message_of(divide, Errc::OutOfMemory);
  EXPECT_NE(message.find("; mlp can take batches of up to 14 images on cpu:0, cpu:1 with these "
                         "shares"),
            std::string::npos)
      << message;
}

TEST(DataParallel, ReportsIdleDevices) {
  StartTraining request = request_for("mlp", 3);
  request.share_policy = SharePolicy::Listed;
  request.shares = {0, 1, 1};
  request.timeline = true;
  const auto probe = trained(request, 3);
  EXPECT_EQ(probe->all<TrainingDone>().at(0).idle_devices, std::vector{cpu(0)});
  std::string text;
  for (const LogLine& line : probe->all<LogLine>()) text += line.text + '\n';
  EXPECT_NE(text.find("no images of a batch of 64 for cpu:0: left out of the steps"),
            std::string::npos)
      << text;
  const StepTimeline timeline = probe->all<StepTimeline>().back();
  ASSERT_FALSE(timeline.buckets.empty());
  EXPECT_EQ(timeline.buckets[0].ready_s[0], 0);
  EXPECT_GT(timeline.buckets[0].ready_s[1], 0);
  EXPECT_GT(timeline.buckets[0].ready_s[2], 0);
}

TEST(DataParallel, ShowsTheWeightsOfADeviceThatTrains) {
  const auto weights = [](StartTraining request) {
    request.steps = 1;
    request.insight = true;
    return trained(request, 2)->all<Insight>().at(0).weights;
  };
  StartTraining request = request_for("mlp", 2);
  request.share_policy = SharePolicy::Listed;
  request.shares = {0, 1};
  const std::vector<float> shown = weights(request);
  StartTraining alone = request_for("mlp", 1);
  alone.devices = {cpu(1)};
  EXPECT_EQ(shown, weights(alone));
}

TEST(DataParallel, ContinuesFromACheckpointBitForBit) {
  const test::TempDir dir;
  StartTraining request = request_for("lenet", 2);
  request.momentum = 0.9;
  request.lr = 0.05;
  request.steps = 12;
  const std::vector<double> whole = losses(request, 2);
  request.checkpoint_dir = (dir.path() / "checkpoints").string();
  request.checkpoint_every = 7;
  request.steps = 7;
  losses(request, 2);
  request.resume_dir = request.checkpoint_dir;
  request.steps = 12;
  const std::vector<double> rest = losses(request, 2);
  EXPECT_EQ(rest, std::vector<double>(whole.begin() + 7, whole.end()));
  request.devices = cpus(3);
  request.checkpoint_dir.clear();
  request.checkpoint_every = 0;
  // The newest checkpoint is now the one at the end of the run.
  request.steps = 14;
  EXPECT_EQ(losses(request, 3).size(), 2U);
}

TEST(DataParallel, StopsDuringAStep) {
  StartTraining request = request_for("resnet18", 2);
  request.synthetic_train = 64;
  request.batch = 64;
  request.steps.reset();
  request.epochs = 100'000;      // ends only when stopped
  request.convolution = "rule";  // no measurement before the start
  test::Probe probe(2);
  test::message_of([&] { probe.run_until<TrainingStarted>(*make_training_experiment(request), 1); },
                   Errc::Cancelled);
}

// Forward has already changed the running statistics when the step ends.
TEST(DataParallel, InterruptedStepKeepsThePreviousState) {
  const Dataset data = make_synthetic_garments(8, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  for (const int count : {1, 2}) {
    SCOPED_TRACE(count);
    Machine machine({.cpu_devices = count});
    std::vector<DeviceContext*> devices;
    for (const Device device : cpus(count)) devices.push_back(&machine.at(device));
    TrainerOptions setup;
    setup.model = "resnet18";
    setup.width = 16;
    setup.batch = 4;
    setup.sgd.momentum = 0.9;
    Trainer trainer(devices, setup);
    const auto state = [&] {
      EXPECT_TRUE(trainer.take_own_state());
      // A single string, so that millions of bytes are compared in one call.
      std::string all;
      const auto append = [&](const std::vector<std::byte>& bytes) {
        all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      };
      for (const auto& tensor : nn::state_dict(trainer.network())) append(tensor.data);
      for (const auto& tensor : nn::optimizer_state(trainer.network(), trainer.sgd())) {
        append(tensor.data);
      }
      return all;
    };
    const auto initial = state();
    trainer.step(loader, 0, 0.1, {});
    const auto before = state();
    EXPECT_TRUE(before != initial);
    nn::PassOptions options;
    options.gradient_ready = [](std::size_t) { throw Error(Errc::Cancelled, "cancelled"); };
    EXPECT_THROW(trainer.step(loader, 1, 0.1, options), Error);
    EXPECT_TRUE(state() == before);
  }
}

TEST(DataParallel, ReportsTheErrorOfTheFailedDevice) {
  Machine machine({.cpu_devices = 12});
  std::vector<DeviceContext*> devices;
  devices.reserve(12);
  for (int i = 0; i < 12; ++i) devices.push_back(&machine.at(cpu(i)));
  const Dataset data = make_synthetic_garments(64, 1, 0);
  const BatchLoader loader(data.train, 64, BatchOrder::Sequential, 0);
  for (int attempt = 0; attempt < 30; ++attempt) {
    TrainerOptions setup;
    setup.model = "lenet";
    setup.batch = 64;
    Trainer trainer(devices, setup);
    nn::PassOptions options;
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> thrown = false;
    options.gradient_ready = [&](std::size_t parameter) {
      if (parameter != 4 || std::this_thread::get_id() == caller || thrown.exchange(true)) return;
      throw Error(Errc::Internal, "the device is on fire");
    };
    try {
      trainer.step(loader, 0, 0.1, options);
      FAIL() << "the step continued";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the device is on fire");
    }
  }
}

}  // namespace
}  // namespace lab
