#include "compute/machine/nvidia_gpus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "compute/core/units.h"
#include "tests/compute/machine/fake_root.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

using test::FakeRoot;

// These functions add one GPU, its driver and its device nodes.
void add_pci_gpu(FakeRoot& root) {
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

std::vector<AbsentDevice> probe(const FakeRoot& root, Maybe<CudaDriverInfo> answer,
                                Maybe<std::string> visible = {}) {
  return find_unusable_gpus({.root = root.path(),
                             .visible_devices = visible,
                             .refusal = "the lab's CUDA backend is missing",
                             .ask = [answer] { return answer; }});
}

Maybe<CudaDriverInfo> never_asked() {
  ADD_FAILURE() << "libcuda was queried although no GPU is usable";
  return {};
}

TEST(NvidiaProbe, ReportsNoGpu) {
  FakeRoot root;
  root.file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n")
      .file("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n")
      .file("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");  // its audio function
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA GPU");
  EXPECT_EQ(absent[0].reason, "no NVIDIA device on the PCI bus");
}

TEST(NvidiaProbe, ReportsMissingPciBus) {
  FakeRoot root;
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_NE(absent[0].reason.find("/sys/bus/pci is missing"), std::string::npos);
}

TEST(NvidiaProbe, ReportsMissingDriver) {
  FakeRoot root;
  add_pci_gpu(root);
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA GPU (PCI 10de:2335 at 0000:01:00.0)");
  EXPECT_NE(absent[0].reason.find("no NVIDIA driver is loaded"), std::string::npos);
}

TEST(NvidiaProbe, ReportsMissingDeviceNodes) {
  FakeRoot root;
  add_pci_gpu(root);
  add_driver(root);
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA H200");
  EXPECT_NE(absent[0].reason.find("/dev/nvidia0 or /dev/nvidiactl is missing"), std::string::npos);
}

TEST(NvidiaProbe, ReportsMissingPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may open everything";
  FakeRoot root;
  add_pci_gpu(root);
  add_driver(root);
  add_nodes(root);
  std::filesystem::permissions(root.path() + "/dev/nvidia0", std::filesystem::perms::none);
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  EXPECT_EQ(absent[0].reason,
            "/dev/nvidia0 cannot be opened (Permission denied); request access, usually through "
            "the group 'video'");
}

TEST(NvidiaProbe, ReportsGpusHiddenByTheEnvironment) {
  FakeRoot root;
  add_pci_gpu(root);
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

// Its GPU is part of the processor: no PCI device, no /proc/driver/nvidia.
TEST(NvidiaProbe, AsksTheDriverOfAJetson) {
  FakeRoot root;
  root.file("proc/device-tree/compatible", std::string("nvidia,p3701\0nvidia,tegra234", 28));
  const auto absent = probe(root, Maybe<CudaDriverInfo>::missing("libcuda.so.1: not found"));
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_NE(absent[0].reason.find("cannot be loaded (libcuda.so.1: not found)"), std::string::npos)
      << absent[0].reason;
}

TEST(NvidiaProbe, ReportsMissingLibrary) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  const auto absent = probe(root, Maybe<CudaDriverInfo>::missing("libcuda.so.1: not found"));
  EXPECT_NE(absent.at(0).reason.find("cannot be loaded (libcuda.so.1: not found)"),
            std::string::npos);
}

TEST(NvidiaProbe, ReportsDriverInitFailure) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  const auto absent = probe(root, CudaDriverInfo{802, "CUDA_ERROR_SYSTEM_NOT_READY", {}});
  EXPECT_EQ(absent.at(0).reason,
            "the CUDA driver failed to start: cuInit returned 802 (CUDA_ERROR_SYSTEM_NOT_READY)");
}

TEST(NvidiaProbe, ReportsDriverWithoutDevices) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  EXPECT_EQ(probe(root, CudaDriverInfo{}).at(0).reason,
            "the CUDA driver starts but reports no device");
}

TEST(NvidiaProbe, NamesEveryUsableGpu) {
  FakeRoot root;
  add_driver(root);
  add_nodes(root);
  const auto absent = probe(root, CudaDriverInfo{0, "", {"NVIDIA H200", "NVIDIA L4"}}, {"0,1"});
  ASSERT_EQ(absent.size(), 2U);
  EXPECT_EQ(absent[1].what, "NVIDIA L4");
  EXPECT_EQ(absent[1].reason, "the lab's CUDA backend is missing");
}

// The driver's reason takes precedence over files, which a container may hide.
TEST(NvidiaProbe, ReportsTheReasonOfTheDriver) {
  const std::string too_old = "the NVIDIA driver is too old";
  FakeRoot root;
  const auto nothing_seen = find_unusable_gpus(
      {.root = root.path(), .refusal = too_old, .driver_refused = true, .ask = never_asked});
  ASSERT_EQ(nothing_seen.size(), 1U);
  EXPECT_EQ(nothing_seen[0].what, "NVIDIA GPU");
  EXPECT_EQ(nothing_seen[0].reason, too_old);
  add_pci_gpu(root);
  add_driver(root);
  const auto seen = find_unusable_gpus(
      {.root = root.path(), .refusal = too_old, .driver_refused = true, .ask = never_asked});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].what, "NVIDIA H200");
  EXPECT_EQ(seen[0].reason, too_old);
}

TEST(NvidiaProbe, IdentifiesGpusByAddress) {
  FakeRoot root;
  add_pci_gpu(root);
  EXPECT_EQ(find_unusable_gpus({.root = root.path(), .ask = never_asked}).at(0).pci_bus_id,
            "0000:01:00.0");
  add_driver(root);
  add_nodes(root);
  const CudaDriverInfo answer{0, "", {"NVIDIA L4"}, {"0000:3b:00.0"}};
  EXPECT_EQ(probe(root, answer).at(0).pci_bus_id, "0000:3b:00.0");
}

TEST(NvidiaProbe, DoesNotWakeASleepingGpu) {
  FakeRoot root;
  add_pci_gpu(root);
  add_driver(root);
  add_nodes(root);
  root.file("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
  const auto absent = find_unusable_gpus({.root = root.path(), .ask = never_asked});
  ASSERT_EQ(absent.size(), 1U);
  EXPECT_EQ(absent[0].what, "NVIDIA H200");
  EXPECT_NE(absent[0].reason.find("asleep"), std::string::npos);
  EXPECT_TRUE(absent[0].needs_request);
}

TEST(NvidiaProbe, AwakeGpuWaitsForASleepingOne) {
  FakeRoot root;
  add_pci_gpu(root);
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
            "that one too; select a GPU by name (--devices cuda:0) or with 'Use this GPU' on the "
            "Devices page");
  EXPECT_EQ(absent[1].what, "NVIDIA L4");
  EXPECT_EQ(absent[1].reason.rfind("it is asleep to save power", 0), 0U) << absent[1].reason;
  EXPECT_TRUE(absent[0].needs_request && absent[1].needs_request);
}

TEST(NvidiaProbe, RealLibraryQueryNeverThrows) {
  const auto answer = query_cuda_driver();
  if (!answer) {
    EXPECT_FALSE(answer.reason().empty());
  }
}

TEST(NvidiaGpus, FormatsAddressesAsInSysfs) {
  EXPECT_EQ(pci_address("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(pci_address("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(pci_address("00010000:01:00.0"), "10000:01:00.0");
  EXPECT_EQ(pci_address(""), "");
}

const std::string kSecondGpu = "0000:02:00.0";

GpuFacts unread_gpu(const std::string& pci_bus_id) {
  GpuFacts facts;
  facts.pci_bus_id = pci_bus_id;
  facts.unread = "NVML is not installed";
  facts.ecc = Maybe<bool>::missing(facts.unread);
  return facts;
}

TEST(CompleteFacts, CudaFillsMissingNvmlFacts) {
  test::FakeBackend backend(2, kGiB);
  std::vector<GpuFacts> gpus = {unread_gpu(backend.gpu(0).facts().pci_bus_id)};
  complete_facts(gpus, &backend);
  const GpuFacts& facts = gpus[0];
  const GpuProperties& told = backend.gpu(0).facts();
  EXPECT_EQ(facts.sms.value_or(0), told.multiprocessors);
  EXPECT_EQ(facts.compute_capability.value_or(""),
            std::to_string(told.compute_major) + "." + std::to_string(told.compute_minor));
  EXPECT_EQ(facts.memory_total_bytes.value_or(0), kGiB);
  EXPECT_EQ(facts.sm_clock_max_mhz.value_or(0), told.clock_max_mhz);
  EXPECT_EQ(facts.cuda_version.value_or(""), "13.1");
  EXPECT_EQ(facts.runtime_version.value_or(""), "13.0");
  EXPECT_EQ(facts.ecc.reason(), "NVML is not installed") << "missing from both: keeps its reason";
  ASSERT_EQ(facts.peers.size(), 1U);
  EXPECT_EQ(facts.peers[0].pci_bus_id, kSecondGpu);
  EXPECT_TRUE(facts.peers[0].read && facts.peers[0].read->possible);
  EXPECT_FALSE(facts.peers[0].nvlink.reason().empty());
}

TEST(CompleteFacts, KeepsNvmlFacts) {
  test::FakeBackend backend(2, kGiB);
  std::vector<GpuFacts> gpus = {unread_gpu(backend.gpu(0).facts().pci_bus_id)};
  gpus[0].sms = 7;
  gpus[0].peers.push_back(
      {kSecondGpu, PeerAccess{false, "the chipset does not support it"}, {}, {}});
  complete_facts(gpus, &backend);
  EXPECT_EQ(gpus[0].sms.value_or(0), 7);
  ASSERT_EQ(gpus[0].peers.size(), 1U);
  EXPECT_FALSE(gpus[0].peers[0].read->possible);
}

TEST(CompleteFacts, ReportsWhyAccessIsMissing) {
  test::FakeBackend backend(2, kGiB);
  backend.gpu(0).faults.no_peer_access = true;
  std::vector<GpuFacts> gpus = {unread_gpu(backend.gpu(0).facts().pci_bus_id)};
  complete_facts(gpus, &backend);
  ASSERT_EQ(gpus[0].peers.size(), 1U);
  ASSERT_TRUE(gpus[0].peers[0].read);
  EXPECT_FALSE(gpus[0].peers[0].read->possible);
  EXPECT_FALSE(gpus[0].peers[0].read->why_not.empty());
}

TEST(CompleteFacts, UnusedGpuHasNoRuntimeVersion) {
  std::vector<GpuFacts> gpus = {unread_gpu(kSecondGpu)};
  complete_facts(gpus, nullptr);
  EXPECT_EQ(gpus[0].runtime_version.reason(), "the lab does not compute on this GPU");
  EXPECT_FALSE(gpus[0].sms);
}

}  // namespace
}  // namespace lab
