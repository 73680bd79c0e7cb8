// Messages that the pages show for a lost or sleeping GPU, and the restart dialog.
#include <gtest/gtest.h>

#include "tests/support/sample_gpus.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const std::string kLost =
    "cuda:0 is lost: add failed with cudaErrorIllegalAddress; its data is gone; restart device-lab "
    "to use it again";
const std::string kLostGpu = "devices/gpu/" + kGpuAddress;
const std::string kLostEntry = "devices/list/gpu/" + kGpuAddress;

MachineInfo machine_with_used_gpu() {
  MachineInfo machine = machine_of(1);
  machine.absent.clear();
  DeviceInfo info;
  info.device = gpu();
  info.name = "NVIDIA H200";
  info.pci_bus_id = kGpuAddress;
  machine.devices.push_back(info);
  return machine;
}

Model with_lost_gpu(bool nvml) {
  Model model(machine_with_used_gpu());
  Telemetry all = telemetry({cpu(), gpu()}, 1, 0.3);
  all.devices.at(1).lost = kLost;
  if (nvml) {
    all.gpu_facts = {gpu_facts()};
    all.gpus = {gpu_reading(1)};
  }
  model.apply(event(0, 1, all));
  return model;
}

Model after_lost_job(const JobCommand& command) {
  Model model = with_lost_gpu(true);
  model.apply(event(1, 2, JobStarted{"A job", command}));
  model.apply(event(1, 3, JobFinished{Outcome::Failed, 1, kLost, Errc::DeviceLost}));
  return model;
}

Model with_sleeping_gpu(bool only_asleep) {
  MachineInfo machine = machine_of(1);
  machine.absent = {{"NVIDIA H200", "it is asleep to save power", kGpuAddress, only_asleep}};
  Model model(machine);
  GpuFacts little;
  little.pci_bus_id = kGpuAddress;
  little.name = "NVIDIA H200";
  little.unread = "the GPU is asleep";
  Telemetry all = telemetry({cpu()}, 1, 0.3);
  all.gpu_facts = {little};
  all.gpus = {sleeping_gpu(1)};
  model.apply(event(0, 1, all));
  return model;
}

TEST(LostGpuPage, ShowsTheErrorAndOffersARestart) {
  Lab lab(with_lost_gpu(true), 1, {1280, 1400});
  lab.open(Page::Devices);
  ASSERT_TRUE(lab.visible(kLostGpu + "/lost"));
  EXPECT_EQ(lab.backend.find(kLostGpu + "/lost")->label, kLost);
  lab.click(kLostGpu + "/lost/restart");
  EXPECT_TRUE(lab.sent<RestartLab>().empty()) << "it asks first";
  lab.click("restart/yes");
  ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
  EXPECT_TRUE(lab.sent<RestartLab>()[0].wake_gpus) << "a sleeping GPU would be absent";
  lab.frames(3);
  EXPECT_FALSE(lab.visible("restart/yes"));
}

TEST(LostGpuPage, WithoutNvmlTheDeviceShowsTheError) {
  Lab lab(with_lost_gpu(false), 1, {1280, 1400});
  lab.open(Page::Devices);
  EXPECT_TRUE(lab.visible("devices/cuda:0/lost/restart"));
  EXPECT_FALSE(lab.visible("devices/cpu:0/lost"));
}

TEST(LostGpuPage, RestartCanBeDeclined) {
  Lab lab(with_lost_gpu(true), 1, {1280, 1400});
  lab.open(Page::Devices);
  lab.click(kLostGpu + "/lost/restart");
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("restart/yes"));
  lab.click(kLostGpu + "/lost/restart");
  lab.click("restart/no");
  lab.frames(3);
  EXPECT_FALSE(lab.visible("restart/yes"));
  EXPECT_TRUE(lab.sent<RestartLab>().empty());
}

TEST(LostGpuPage, EveryPageWithAFailedJobOffersARestart) {
  struct Case {
    Page page;
    const char* name;
    JobCommand command;
  };
  for (const auto& [page, name, command] : {Case{Page::Memory, "memory", MakeTensor{}},
                                            Case{Page::Transfers, "transfers", StartTransfers{}},
                                            Case{Page::Matmul, "matmul", StartMatmul{}},
                                            Case{Page::Training, "training", StartTraining{}},
                                            Case{Page::Scaling, "scaling", StartScaling{}}}) {
    SCOPED_TRACE(name);
    const std::string error = std::string(name) + "/error";
    Lab lab(after_lost_job(command), 1, {1280, 1000});
    lab.open(page);
    ASSERT_TRUE(lab.visible(error));
    EXPECT_EQ(lab.backend.find(error)->label, kLost);
    EXPECT_FALSE(lab.visible(std::string(name) + "/retry")) << "it would fail again";
    lab.click(error + "/restart");
    lab.click("restart/yes");
    EXPECT_EQ(lab.sent<RestartLab>().size(), 1U);
  }
}

TEST(LostGpuPage, OtherFailuresOfferARetry) {
  Model model = with_lost_gpu(true);
  model.apply(event(1, 2, JobStarted{"A job", StartTransfers{}}));
  model.apply(event(1, 3, JobFinished{Outcome::Failed, 1, "no room", Errc::OutOfMemory}));
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.visible("transfers/retry"));
  EXPECT_FALSE(lab.visible("transfers/error/restart"));
}

TEST(LostGpuPage, FailedRestartGivesTheReason) {
  Model model = with_lost_gpu(true);
  model.refuse_restart("restart: the program's file cannot be run");
  Lab lab(std::move(model), 1, {1280, 1400});
  lab.open(Page::Devices);
  const ui::WidgetRect* why = lab.backend.find(kLostGpu + "/lost/restart/refused");
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->label, "restart: the program's file cannot be run");
}

TEST(SleepingGpuPage, UsingItRestartsTheLab) {
  Lab lab(with_sleeping_gpu(true), 1, {1280, 1400});
  lab.open(Page::Devices);
  lab.click(kLostEntry);
  lab.click(kLostGpu + "/use");
  lab.click("restart/yes");
  ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
  EXPECT_TRUE(lab.sent<RestartLab>()[0].wake_gpus);
}

TEST(SleepingGpuPage, AwakenedGpuIsStillOffered) {
  Model model = with_sleeping_gpu(true);
  Telemetry awake = telemetry({cpu()}, 2, 0.3);
  awake.gpus = {gpu_reading(2)};
  model.apply(event(0, 2, awake));
  Lab lab(std::move(model), 1, {1280, 1400});
  lab.open(Page::Devices);
  lab.click(kLostEntry);
  EXPECT_TRUE(lab.visible(kLostGpu + "/use"));
}

TEST(SleepingGpuPage, OffersNothingIfSleepIsNotTheOnlyReason) {
  Lab lab(with_sleeping_gpu(false), 1, {1280, 1400});
  lab.open(Page::Devices);
  lab.click(kLostEntry);
  EXPECT_TRUE(lab.visible(kLostGpu));
  EXPECT_FALSE(lab.visible(kLostGpu + "/use"));
}

}  // namespace
}  // namespace lab::test
