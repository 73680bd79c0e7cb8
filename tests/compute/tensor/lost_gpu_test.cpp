// A GPU whose context is lost, observed through the worker as the window and the command line do.
#include <gtest/gtest.h>

#include "compute/core/units.h"
#include "compute/experiments/registry.h"
#include "compute/machine/telemetry.h"
#include "compute/run/worker.h"
#include "compute/tensor/tensor_store.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

struct LostGpu : ::testing::Test {
  std::shared_ptr<test::FakeBackend> fake = std::make_shared<test::FakeBackend>(2, 64 * kMiB);
  Machine machine{{.open_gpus = test::backend_opener(fake)}};
  TensorStore tensors;
  Channel channel;
  Worker worker{machine, tensors, channel, make_experiment, job_title};

  JobFinished run(const JobCommand& command) {
    const JobId job = worker.submit(command);
    while (true) {
      for (const Event& e : channel.wait_and_drain(5)) {
        const auto* finished = std::get_if<JobFinished>(&e.payload);
        if (finished != nullptr && e.job == job) return *finished;
      }
    }
  }
  JobFinished make(Device device) {
    MakeTensor request;
    request.device = device;
    request.shape = {4};
    request.fill = Fill::Ones;
    return run(request);
  }
};

TEST_F(LostGpu, FailsTheJobAndKeepsOtherDevicesUsable) {
  ASSERT_EQ(make(gpu(0)).outcome, Outcome::Done);
  fake->gpu(0).faults.loses = "fill";
  const JobFinished first = make(gpu(0));
  EXPECT_EQ(first.outcome, Outcome::Failed);
  EXPECT_EQ(first.code, Errc::DeviceLost);
  EXPECT_NE(first.error.find("cuda:0 is lost"), std::string::npos) << first.error;
  const JobFinished again = make(gpu(0));
  EXPECT_EQ(again.code, Errc::DeviceLost);
  EXPECT_EQ(again.error, first.error) << "the first loss is the one reported";
  EXPECT_EQ(make(gpu(1)).outcome, Outcome::Done);
  EXPECT_EQ(make(cpu()).outcome, Outcome::Done);
  TelemetryReader reader(machine);
  const Telemetry telemetry = reader.read();
  EXPECT_EQ(telemetry.devices.at(0).lost, "");
  EXPECT_EQ(telemetry.devices.at(1).lost, first.error);
  EXPECT_EQ(telemetry.devices.at(2).lost, "");
}

TEST_F(LostGpu, FailsTransfersLikewise) {
  fake->gpu(0).faults.loses = "copy";
  StartTransfers request;
  request.from = {cpu()};
  request.to = {gpu(0)};
  request.sizes_bytes = {kKiB};
  request.budget_s = 0.01;
  const JobFinished finished = run(request);
  EXPECT_EQ(finished.outcome, Outcome::Failed);
  EXPECT_EQ(finished.code, Errc::DeviceLost);
}

}  // namespace
}  // namespace lab
