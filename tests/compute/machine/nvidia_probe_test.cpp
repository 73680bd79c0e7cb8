#include "compute/machine/nvidia_probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/compute/machine/fake_root.h"

namespace lab {
namespace {

using test::FakeRoot;

// A machine with one GPU, its driver and its device nodes.
void add_gpu(FakeRoot& root) {
  root.file("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
      .file("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n")
      .file("sys/bus/pci/devices/0000:01:00.0/device", "0x2335\n");
}
void add_driver(FakeRoot& root) {
  root.file("proc/driver/nvidia/version", "NVRM version: 570\n")
      .file("proc/driver/nvidia/gpus/0000:01:00.0/information",
            "Model: \t\t NVIDIA H200\nIRQ:   \t\t 44\n");
}
void add_nodes(FakeRoot& root) {
  root.file("dev/nvidia0", "").file("dev/nvidiactl", "").file("dev/nvidia-uvm", "");
}

std::vector<AbsentDevice> probe(const FakeRoot& root, Maybe<CudaDriverAnswer> answer,
                                Maybe<std::string> visible = {}) {
  return find_unusable_gpus({.root = root.path(),
                             .visible_devices = visible,
                             .refusal = "the lab's CUDA half is missing",
                             .ask = [answer] { return answer; }});
}

Maybe<CudaDriverAnswer> never_asked() {
  ADD_FAILURE() << "libcuda was asked although no GPU can be used";
  return {};
}

TEST(NvidiaProbe, NoGpu) {
  FakeRoot root;
  root.file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n")
      .file("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n")
      .file("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");  // its sound function
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA GPU");
  EXPECT_EQ(absent[0].reason, "no NVIDIA device on the PCI bus");
}

TEST(NvidiaProbe, NoBusToLookAt) {
  FakeRoot root;
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_NE(absent[0].reason.find("/sys/bus/pci is missing"), std::string::npos);
}

TEST(NvidiaProbe, GpuWithoutDriver) {
  FakeRoot root;
  add_gpu(root);
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA GPU (PCI 10de:2335 at 0000:01:00.0)");
  EXPECT_NE(absent[0].reason.find("no NVIDIA driver is loaded"), std::string::npos);
}

TEST(NvidiaProbe, DriverWithoutDeviceNodes) {
  FakeRoot root;
  add_gpu(root);
  add_driver(root);
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA H200");
  EXPECT_NE(absent[0].reason.find("/dev/nvidia0 or /dev/nvidiactl is missing"), std::string::npos);
}

TEST(NvidiaProbe, DeviceNodeWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may open everything";
  FakeRoot root;
  add_gpu(root);
  add_driver(root);
  add_nodes(root);
  std::filesystem::permissions(root.path() + "/dev/nvidia0", std::filesystem::perms::none);
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  EXPECT_EQ(absent[0].reason,
            "/dev/nvidia0 cannot be opened (Permission denied); ask for permission, often group "
            "'video'");
}

TEST(NvidiaProbe, HiddenByTheEnvironment) {
  FakeRoot root;
  add_gpu(root);
  add_driver(root);
  add_nodes(root);
  for (const std::string hidden : {"", "-1"}) {
    const auto absent =
        find_unusable_gpus({.root = root.path(), .visible_devices = hidden, .ask = never_asked});
    ASSERT_EQ(absent.size(), 1U);
    EXPECT_EQ(absent[0].reason,
              "CUDA_VISIBLE_DEVICES=\"" + hidden + "\" hides every GPU; unset it");
  }
}

TEST(NvidiaProbe, LibraryMissing) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  const auto absent = probe(root, Maybe<CudaDriverAnswer>::missing("libcuda.so.1: not found"));
  EXPECT_NE(absent.at(0).reason.find("cannot be loaded (libcuda.so.1: not found)"),
            std::string::npos);
}

TEST(NvidiaProbe, DriverDoesNotStart) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  const auto absent = probe(root, CudaDriverAnswer{802, "CUDA_ERROR_SYSTEM_NOT_READY", {}});
  EXPECT_EQ(absent.at(0).reason,
            "the CUDA driver does not start: cuInit returned 802 (CUDA_ERROR_SYSTEM_NOT_READY)");
}

TEST(NvidiaProbe, DriverOffersNothing) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  EXPECT_EQ(probe(root, CudaDriverAnswer{}).at(0).reason,
            "the CUDA driver starts but offers no device");
}

TEST(NvidiaProbe, EveryUsableGpuIsNamed) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  const auto absent = probe(root, CudaDriverAnswer{0, "", {"NVIDIA H200", "NVIDIA L4"}}, {"0,1"});
  ASSERT_EQ(absent.size(), 2U);
  EXPECT_EQ(absent[1].what, "NVIDIA L4");
  EXPECT_EQ(absent[1].reason, "the lab's CUDA half is missing");
}

// The driver's own word counts more than files, which a container may hide.
TEST(NvidiaProbe, WhatTheDriverSaysIsTheReason) {
  const std::string too_old = "the NVIDIA driver is too old";
  FakeRoot root;
  const auto nothing_seen = find_unusable_gpus(
      {.root = root.path(), .refusal = too_old, .driver_refused = true, .ask = never_asked});
  ASSERT_EQ(nothing_seen.size(), 1U);
  EXPECT_EQ(nothing_seen[0].what, "NVIDIA GPU");
  EXPECT_EQ(nothing_seen[0].reason, too_old);
  add_gpu(root);
  add_driver(root);
  const auto seen = find_unusable_gpus(
      {.root = root.path(), .refusal = too_old, .driver_refused = true, .ask = never_asked});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].what, "NVIDIA H200");
  EXPECT_EQ(seen[0].reason, too_old);
}

TEST(NvidiaProbe, GpusAreKnownByTheirAddress) {
  FakeRoot root;
  add_gpu(root);
  EXPECT_EQ(find_unusable_gpus({.root = root.path(), .ask = never_asked}).at(0).pci_bus_id,
            "0000:01:00.0");
  add_driver(root);
  add_nodes(root);
  const CudaDriverAnswer answer{0, "", {"NVIDIA L4"}, {"0000:3b:00.0"}};
  EXPECT_EQ(probe(root, answer).at(0).pci_bus_id, "0000:3b:00.0");
}

TEST(NvidiaProbe, AGpuThatIsAsleepIsNotWoken) {
  FakeRoot root;
  add_gpu(root);
  add_driver(root);
  add_nodes(root);
  root.file("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA H200");
  EXPECT_NE(absent[0].reason.find("asleep"), std::string::npos);
  EXPECT_TRUE(absent[0].waits_for_wish);
}

TEST(NvidiaProbe, AGpuThatIsAwakeWaitsForOneThatSleeps) {
  FakeRoot root;
  add_gpu(root);
  add_driver(root);
  add_nodes(root);
  root.file("proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: \t\t NVIDIA L4\n");
  root.file("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "active\n");
  root.file("sys/bus/pci/devices/0000:02:00.0/power/runtime_status", "suspended\n");
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 2U);
  EXPECT_EQ(absent[0].what, "NVIDIA H200");
  EXPECT_EQ(absent[0].reason,
            "it is awake, but another GPU is asleep to save power, and starting CUDA would wake "
            "that one too; ask for a GPU by name (--devices cuda:0), or with 'Use this GPU' on "
            "the Devices page");
  EXPECT_EQ(absent[1].what, "NVIDIA L4");
  EXPECT_EQ(absent[1].reason.rfind("it is asleep to save power", 0), 0U) << absent[1].reason;
  EXPECT_TRUE(absent[0].waits_for_wish && absent[1].waits_for_wish);
}

TEST(NvidiaProbe, AskingTheRealLibraryNeverThrows) {
  const auto answer = ask_cuda_driver();
  if (!answer) {
    EXPECT_FALSE(answer.reason().empty());
  }
}

}  // namespace
}  // namespace lab
