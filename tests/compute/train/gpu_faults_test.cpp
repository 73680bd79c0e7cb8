// Trainings on emulated GPUs that end in the middle of a step.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/nn/state_dict.h"
#include "compute/train/trainer.h"
#include "tests/support/contexts.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_network.h"

namespace lab {
namespace {

TrainerOptions tiny_network() {
  TrainerOptions options;
  options.plan = test::tiny_plan;
  options.batch = 4;
  options.sgd.momentum = 0.9;
  options.bucket_bytes = 64;  // several buckets
  return options;
}

const Device kFirst = emulated_gpu(0), kSecond = emulated_gpu(1);

void lose(GpuDevice& gpu) {
  std::byte nowhere{};
  gpu.release(&nowhere, gpu.main_stream());
}

struct Loss {
  std::vector<Device> devices;
  std::size_t loser = 0;  // the device that is lost
};

// Runs `steps` steps; the last one loses the GPU.
void expect_loss(const Loss& loss, int steps) {
  const Dataset data = make_synthetic_garments(16, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 2});
  Trainer trainer(test::contexts_of(machine, loss.devices), tiny_network());
  for (int step = 0; step + 1 < steps; ++step) trainer.step(loader, step, 0.1, {});
  const Device lost = loss.devices[loss.loser];
  const std::thread::id caller = std::this_thread::get_id();  // drives the first device
  nn::PassOptions options;
  options.gradient_ready = [&](std::size_t parameter) {
    const bool mine = (std::this_thread::get_id() == caller) == (loss.loser == 0);
    if (parameter == 2 && mine) lose(*machine.at(lost).gpu());
  };
  const std::string message =
      test::message_of([&] { trainer.step(loader, steps - 1, 0.1, options); }, Errc::DeviceLost);
  EXPECT_NE(message.find(to_string(lost)), std::string::npos) << message;
}

TEST(GpuFaults, ALostGpuEndsTheStepWithItsError) {
  for (const Loss& loss : {Loss{{kFirst}, 0}, Loss{{kFirst, kSecond}, 0},
                           Loss{{kFirst, kSecond}, 1}, Loss{{cpu(), kFirst}, 1}}) {
    for (const int steps : {1, 2, 3}) {  // queued, recorded, replayed
      SCOPED_TRACE(std::to_string(loss.devices.size()) + " devices, step " + std::to_string(steps));
      expect_loss(loss, steps);
    }
  }
}

TEST(GpuFaults, ALostGpuEndsTheQueuedSteps) {
  const Dataset data = make_synthetic_garments(16, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  for (const Loss& loss :
       {Loss{{kFirst}, 0}, Loss{{kFirst, kSecond}, 0}, Loss{{kFirst, kSecond}, 1}}) {
    Machine machine({.emulated_gpus = 2});
    Trainer trainer(test::contexts_of(machine, loss.devices), tiny_network());
    for (int step = 0; step < 4; ++step) trainer.queue_step(loader, step, 0.1, {});
    const Device lost = loss.devices[loss.loser];
    lose(*machine.at(lost).gpu());
    while (trainer.queued() > 0) {
      const std::string message =
          test::message_of([&] { trainer.finish_step(); }, Errc::DeviceLost);
      EXPECT_NE(message.find(to_string(lost)), std::string::npos) << message;
    }
    EXPECT_THROW(trainer.queue_step(loader, 0, 0.1, {}), Error);
  }
}

TEST(GpuFaults, AGpuLostWhileAStepIsQueuedEndsIt) {
  const Dataset data = make_synthetic_garments(16, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  for (const int step : {0, 1, 2}) {  // queued, recorded, replayed
    Machine machine({.emulated_gpus = 2});
    Trainer trainer(test::contexts_of(machine, {kFirst, kSecond}), tiny_network());
    for (int i = 0; i < step; ++i) trainer.queue_step(loader, i, 0.1, {});
    const std::thread::id caller = std::this_thread::get_id();  // drives the first device
    nn::PassOptions options;
    options.gradient_ready = [&](std::size_t parameter) {
      const bool first = std::this_thread::get_id() == caller;
      if (parameter == 2 && !first) lose(*machine.at(kSecond).gpu());
    };
    const std::string message =
        test::message_of([&] { trainer.queue_step(loader, step, 0.1, options); }, Errc::DeviceLost);
    EXPECT_NE(message.find("emu:1"), std::string::npos) << message;
  }
}

TEST(GpuFaults, TheOtherGpuContinues) {
  const Dataset data = make_synthetic_garments(16, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  Machine machine({.emulated_gpus = 2});
  lose(*machine.at(kFirst).gpu());
  EXPECT_THROW(Trainer(test::contexts_of(machine, {kFirst, kSecond}), tiny_network()), Error);
  Trainer trainer(test::contexts_of(machine, {kSecond}), tiny_network());
  EXPECT_TRUE(std::isfinite(trainer.step(loader, 0, 0.1, {}).loss));
}

std::vector<std::byte> state_of(Trainer& trainer) {
  EXPECT_TRUE(trainer.take_own_state());
  std::vector<std::byte> all;
  const auto append = [&](const std::vector<std::byte>& bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  };
  for (const auto& tensor : nn::state_dict(trainer.network())) append(tensor.data);
  for (const auto& tensor : nn::optimizer_state(trainer.network(), trainer.sgd())) {
    append(tensor.data);
  }
  return all;
}

TEST(GpuFaults, AnInterruptedStepKeepsThePreviousState) {
  const Dataset data = make_synthetic_garments(16, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  for (const std::vector<Device>& devices :
       {std::vector{kFirst}, std::vector{kFirst, kSecond}, std::vector{kFirst, cpu()}}) {
    SCOPED_TRACE(devices.size());
    Machine machine({.emulated_gpus = 2});
    Trainer trainer(test::contexts_of(machine, devices), tiny_network());
    for (int step = 0; step < 2; ++step) trainer.step(loader, step, 0.1, {});
    const auto before = state_of(trainer);
    nn::PassOptions options;
    options.gradient_ready = [](std::size_t parameter) {
      if (parameter == 2) throw Error(Errc::Cancelled, "cancelled");
    };
    EXPECT_THROW(trainer.step(loader, 2, 0.1, options), Error);
    EXPECT_TRUE(state_of(trainer) == before);
  }
}

// In a step that is queued, in one that is recorded, and in one that is replayed.
TEST(GpuFaults, AStoppedStepKeepsThePreviousState) {
  const Dataset data = make_synthetic_garments(16, 1, 0);
  const BatchLoader loader(data.train, 4, BatchOrder::Sequential, 0);
  for (const std::vector<Device>& devices :
       {std::vector{kFirst}, std::vector{kFirst, kSecond}, std::vector{kFirst, cpu()}}) {
    for (int whole = 0; whole < 3; ++whole) {
      SCOPED_TRACE(std::to_string(devices.size()) + " devices, step " + std::to_string(whole));
      Machine machine({.emulated_gpus = 2});
      std::stop_source stop;
      Trainer trainer(test::contexts_of(machine, devices), tiny_network(), stop.get_token());
      for (int step = 0; step < whole; ++step) trainer.step(loader, step, 0.1, {});
      const auto before = state_of(trainer);
      nn::PassOptions options;
      options.gradient_ready = [&](std::size_t parameter) {
        if (parameter == 2) stop.request_stop();
      };
      test::message_of([&] { trainer.step(loader, whole, 0.1, options); }, Errc::Cancelled);
      EXPECT_TRUE(state_of(trainer) == before);
    }
  }
}

// Steps and evaluations that would take minutes.
TEST(GpuFaults, AStopEndsLongWorkSoon) {
  const Dataset data = make_synthetic_garments(64, 64, 0);
  const BatchLoader loader(data.train, 64, BatchOrder::Sequential, 0);
  for (const bool evaluates : {false, true}) {
    for (const std::vector<Device>& devices :
         {std::vector{kFirst}, std::vector{kFirst, kSecond}, std::vector{kFirst, cpu()}}) {
      SCOPED_TRACE(std::to_string(devices.size()) + (evaluates ? " evaluate" : " train"));
      Machine machine({.emulated_gpus = 2});
      {
        std::stop_source stop;
        TrainerOptions options;
        options.model = "resnet18";
        options.width = 8;
        options.batch = 64;
        Trainer trainer(test::contexts_of(machine, devices), options, stop.get_token());
        std::chrono::steady_clock::time_point stopped;
        const std::jthread stopper([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
          stopped = std::chrono::steady_clock::now();
          stop.request_stop();
        });
        const auto work = [&] {
          if (evaluates) {
            trainer.evaluate(data.test, {});
          } else {
            trainer.step(loader, 0, 0.1, {});
          }
        };
        test::message_of(work, Errc::Cancelled);
        EXPECT_LT(std::chrono::steady_clock::now() - stopped, std::chrono::seconds(3));
      }
      Trainer next(test::contexts_of(machine, devices), tiny_network());
      EXPECT_TRUE(std::isfinite(next.step(loader, 0, 0.1, {}).loss));
    }
  }
}

StartTraining endless_request(const std::vector<Device>& devices) {
  StartTraining request;
  request.model = "softmax";
  request.synthetic_train = 8;
  request.synthetic_test = 2;
  request.batch = 2;
  request.momentum = 0.9;
  request.epochs = 100'000;
  request.devices = devices;
  return request;
}

TEST(GpuFaults, CancelWritesACheckpointToContinueFrom) {
  for (const std::vector<Device>& devices :
       {std::vector{kFirst}, std::vector{kFirst, kSecond}, std::vector{cpu(), kFirst}}) {
    SCOPED_TRACE(devices.size());
    const test::TempDir dir;
    StartTraining request = endless_request(devices);
    request.checkpoint_dir = dir.path().string();
    test::Probe probe({.emulated_gpus = 2});
    test::message_of([&] { probe.run_until<StepDone>(*make_training_experiment(request), 3); },
                     Errc::Cancelled);
    const std::vector<StepDone> before = probe.all<StepDone>();
    request.resume_dir = request.checkpoint_dir;
    test::Probe again({.emulated_gpus = 2});
    test::message_of([&] { again.run_until<StepDone>(*make_training_experiment(request), 1); },
                     Errc::Cancelled);
    ASSERT_FALSE(before.empty());
    EXPECT_EQ(again.all<StepDone>().front().step, before.back().step + 1);
  }
}

}  // namespace
}  // namespace lab
