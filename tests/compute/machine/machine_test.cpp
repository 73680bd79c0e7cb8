#include "compute/machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/machine/cpu_topology.h"
#include "compute/machine/simd_level.h"
#include "compute/machine/telemetry.h"
#include "tests/compute/machine/fake_root.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

std::string message_of(Machine& machine, Device device) {
  try {
    machine.at(device);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Errc::NotFound);
    return e.what();
  }
  return {};
}

TEST(Machine, DescribesItself) {
  const Machine machine;
  const MachineInfo& info = machine.info();
  EXPECT_FALSE(info.host.empty());
  EXPECT_FALSE(info.system.empty());
  EXPECT_FALSE(info.kernel.empty());
  ASSERT_GE(info.devices.size(), 1U);
  const DeviceInfo& d = info.devices[0];
  EXPECT_EQ(d.device, cpu(0));
  EXPECT_FALSE(d.name.empty());
  EXPECT_FALSE(d.simd.empty());
  EXPECT_EQ(d.simd_detail.rfind(d.simd, 0), 0U);
  EXPECT_GE(d.threads, 1);
  EXPECT_EQ(d.threads, static_cast<int>(d.cores.size()));
  EXPECT_GT(d.memory_total_bytes, 0);
  EXPECT_GT(d.memory_limit_bytes, 0);
  EXPECT_LE(d.memory_limit_bytes, d.memory_total_bytes);
  if (!d.clock_max_mhz) {
    EXPECT_FALSE(d.clock_max_mhz.reason().empty());
  }
}

TEST(Machine, GivesTheMemoryLimitInBytesAndItsReason) {
  const Machine machine({.cpu_devices = 2});
  const DeviceInfo& d = machine.info().devices.at(0);
  const auto limit =
      std::ranges::find(d.details, "Memory limit", &std::pair<std::string, std::string>::first);
  ASSERT_NE(limit, d.details.end());
  EXPECT_EQ(limit->second.find(format_bytes(d.memory_limit_bytes) + ": 90 % "), 0U)
      << limit->second;
  EXPECT_NE(limit->second.find("divided between 2 devices"), std::string::npos) << limit->second;
}

TEST(Machine, ReportsWhyThereIsNoGpu) {
  Machine machine;
  EXPECT_EQ(machine.num_gpus(), 0);
  ASSERT_FALSE(machine.info().absent.empty());
  const std::string message = message_of(machine, gpu(0));
  EXPECT_EQ(message.rfind("cuda:0 cannot be used: ", 0), 0U) << message;
  EXPECT_NE(message.find(machine.info().absent[0].reason), std::string::npos) << message;
  EXPECT_NE(message.find("; use cpu:0"), std::string::npos) << message;
}

TEST(Machine, ProvidesTheD2lDeviceFunctions) {
  const Machine machine({.cpu_devices = 2});
  EXPECT_EQ(machine.num_cpus(), 2);
  EXPECT_EQ(machine.try_gpu(), cpu(0));
  EXPECT_EQ(machine.try_gpu(10), cpu(0));
  EXPECT_EQ(machine.try_all_gpus(), std::vector<Device>{cpu(0)});
  EXPECT_EQ(machine.devices(), (std::vector<Device>{cpu(0), cpu(1)}));
  EXPECT_TRUE(machine.has(cpu(1)));
  EXPECT_FALSE(machine.has(cpu(2)));
  EXPECT_FALSE(machine.has(cpu(-1)));
  EXPECT_FALSE(machine.has(gpu(0)));
}

TEST(Machine, ListsGpusOfTheBackend) {
  const auto fake = std::make_shared<test::FakeBackend>(2, kGiB);
  Machine machine({.cpu_devices = 2, .open_gpus = test::backend_opener(fake)});
  EXPECT_EQ(machine.num_cpus(), 2);
  EXPECT_EQ(machine.num_gpus(), 2);
  EXPECT_EQ(machine.devices(), (std::vector<Device>{cpu(0), cpu(1), gpu(0), gpu(1)}));
  EXPECT_EQ(machine.try_gpu(1), gpu(1));
  EXPECT_EQ(machine.try_gpu(2), cpu(0));
  EXPECT_EQ(machine.try_all_gpus(), (std::vector<Device>{gpu(0), gpu(1)}));
  EXPECT_TRUE(machine.info().absent.empty());
  EXPECT_EQ(machine.at(cpu(1)).device(), cpu(1));
  EXPECT_EQ(machine.at(cpu(1)).gpu(), nullptr);
  DeviceContext& context = machine.at(gpu(1));
  EXPECT_EQ(context.gpu(), &fake->gpu(1));
  EXPECT_EQ(context.memory().limit_bytes(), kGiB);
  const DeviceInfo& info = context.info();
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.pci_bus_id, "0000:02:00.0");
  EXPECT_EQ(info.memory_total_bytes, kGiB);
  EXPECT_EQ(info.clock_max_mhz.value_or(0), 1980);
  EXPECT_TRUE(info.cores.empty());
  EXPECT_EQ(message_of(machine, gpu(2)),
            "cuda:2 cannot be used: this machine has 2 usable NVIDIA GPUs; use cuda:0 to cuda:1");
}

TEST(Machine, EmulatedGpusAreListedLast) {
  Machine machine({.cpu_devices = 2, .emulated_gpus = 2});
  EXPECT_EQ(machine.devices(),
            (std::vector<Device>{cpu(0), cpu(1), emulated_gpu(0), emulated_gpu(1)}));
  EXPECT_EQ(machine.at(emulated_gpu(1)).device(), emulated_gpu(1));
  EXPECT_EQ(machine.at(emulated_gpu(1)).gpu()->facts().device, emulated_gpu(1));
  EXPECT_EQ(machine.gpus(), nullptr);
  EXPECT_NE(message_of(machine, emulated_gpu(2)).find("use emu:0 to emu:1"), std::string::npos);
  EXPECT_FALSE(machine.has(gpu(0)));
}

TEST(Machine, EmulatedGpusStandInForMissingGpus) {
  const Machine machine({.emulated_gpus = 2});
  EXPECT_EQ(machine.num_gpus(), 2);
  EXPECT_EQ(machine.try_gpu(1), emulated_gpu(1));
  EXPECT_EQ(machine.try_gpu(2), cpu());
  EXPECT_EQ(machine.try_all_gpus(), (std::vector<Device>{emulated_gpu(0), emulated_gpu(1)}));
  MachineOptions options{.emulated_gpus = 1};
  options.open_gpus = test::backend_opener(std::make_shared<test::FakeBackend>(1, kGiB));
  Machine both(options);
  EXPECT_EQ(both.num_gpus(), 1);
  EXPECT_EQ(both.try_all_gpus(), (std::vector<Device>{gpu(0)}));
  EXPECT_EQ(both.devices().back(), emulated_gpu(0));
  EXPECT_EQ(both.at(emulated_gpu(0)).device(), emulated_gpu(0));
}

TEST(Machine, EmulatedGpusHaveReadingsWithoutTimes) {
  Machine machine({.emulated_gpus = 1});
  const Telemetry telemetry = TelemetryReader(machine).read();
  ASSERT_EQ(telemetry.devices.size(), 2U);
  const DeviceTelemetry& gpu = telemetry.devices[1];
  EXPECT_EQ(gpu.utilisation.reason(), kNeverTimed);
  EXPECT_EQ(*gpu.memory_available_bytes, machine.info().devices[1].memory_total_bytes);
}

TEST(Machine, ListsRejectedGpusAsAbsent) {
  const auto fake = std::make_shared<test::FakeBackend>(1, kGiB);
  const RejectedGpu refused = test::rejected_gpu("0000:81:00.0", "it has no code for it");
  Machine machine({.open_gpus = [&] { return GpuBackendResult{fake, "", true, {refused}}; }});
  EXPECT_EQ(machine.num_gpus(), 1);
  ASSERT_EQ(machine.info().absent.size(), 1U);
  EXPECT_EQ(machine.info().absent[0].what, "Old GPU");
  EXPECT_EQ(machine.info().absent[0].reason, "it has no code for it");
  EXPECT_EQ(machine.info().absent[0].pci_bus_id, "0000:81:00.0");
  EXPECT_FALSE(machine.info().absent[0].needs_request);
  EXPECT_EQ(message_of(machine, gpu(1)),
            "cuda:1 cannot be used: this machine has 1 usable NVIDIA GPU (Old GPU is not: it has "
            "no code for it); use cuda:0");
}

TEST(Machine, RejectedGpusExplainAMissingBackend) {
  const RejectedGpu refused = test::rejected_gpu("0000:81:00.0", "it has no code for it");
  Machine machine({.open_gpus = [&] { return GpuBackendResult{nullptr, "", true, {refused}}; }});
  EXPECT_EQ(machine.num_gpus(), 0);
  ASSERT_EQ(machine.info().absent.size(), 1U);
  EXPECT_EQ(message_of(machine, gpu()),
            "cuda:0 cannot be used: Old GPU: it has no code for it; use cpu:0");
}

// Adds a GPU with a loaded driver. `status` is the kernel's runtime power status.
void add_gpu_with_driver(test::FakeRoot& root, const std::string& address,
                         const std::string& status) {
  const std::string gpu = "sys/bus/pci/devices/" + address + "/";
  root.file(gpu + "vendor", "0x10de\n").file(gpu + "class", "0x030200\n");
  root.file(gpu + "power/runtime_status", status + "\n");
  root.file("proc/driver/nvidia/gpus/" + address + "/information", "Model: \t\t NVIDIA H200\n");
  root.file("dev/nvidia0", "").file("dev/nvidiactl", "");
}

void add_sleeping_gpu(test::FakeRoot& root) {
  add_gpu_with_driver(root, "0000:01:00.0", "suspended");
}

GpuBackendResult fail_if_opened() {
  ADD_FAILURE() << "starting the driver wakes the GPU";
  return {};
}

TEST(Machine, DiscoveryDoesNotWakeASleepingGpu) {
  test::FakeRoot root;
  add_sleeping_gpu(root);
  Machine machine({.open_gpus = fail_if_opened, .root = root.path()});
  EXPECT_EQ(machine.num_gpus(), 0);
  ASSERT_EQ(machine.info().absent.size(), 1U);
  EXPECT_TRUE(machine.info().absent[0].needs_request);
  EXPECT_NE(message_of(machine, gpu()).find("asleep"), std::string::npos);
}

TEST(Machine, OneSleepingGpuPreventsOpeningAny) {
  test::FakeRoot root;
  add_sleeping_gpu(root);
  add_gpu_with_driver(root, "0000:02:00.0", "active");
  Machine machine({.open_gpus = fail_if_opened, .root = root.path()});
  EXPECT_EQ(machine.num_gpus(), 0);
  ASSERT_EQ(machine.info().absent.size(), 2U);
  const AbsentDevice& awake = machine.info().absent[1];
  EXPECT_TRUE(awake.needs_request);
  EXPECT_EQ(awake.reason.rfind("it is awake, but another GPU is asleep", 0), 0U) << awake.reason;
}

TEST(Machine, RequestOpensAwakeGpus) {
  test::FakeRoot root;
  add_sleeping_gpu(root);
  add_gpu_with_driver(root, "0000:02:00.0", "active");
  const auto fake = std::make_shared<test::FakeBackend>(2, kGiB);
  Machine machine(
      {.open_gpus = test::backend_opener(fake), .wake_gpus = true, .root = root.path()});
  EXPECT_EQ(machine.num_gpus(), 2);
  EXPECT_TRUE(machine.info().absent.empty());
}

TEST(Machine, OpensAwakeGpusWithoutRequest) {
  test::FakeRoot root;
  add_gpu_with_driver(root, "0000:01:00.0", "active");
  add_gpu_with_driver(root, "0000:02:00.0", "active");
  const auto fake = std::make_shared<test::FakeBackend>(2, kGiB);
  const Machine machine({.open_gpus = test::backend_opener(fake), .root = root.path()});
  EXPECT_EQ(machine.num_gpus(), 2);
}

TEST(Machine, RequestWakesASleepingGpu) {
  test::FakeRoot root;
  add_sleeping_gpu(root);
  const auto fake = std::make_shared<test::FakeBackend>(1, kGiB);
  Machine machine(
      {.open_gpus = test::backend_opener(fake), .wake_gpus = true, .root = root.path()});
  EXPECT_EQ(machine.num_gpus(), 1);
  EXPECT_TRUE(machine.info().absent.empty());
}

TEST(Machine, UnusableWokenGpuIsNotReportedAsleep) {
  test::FakeRoot root;
  add_sleeping_gpu(root);
  Machine machine({.open_gpus =
                       [] {
                         return GpuBackendResult{nullptr, "the driver is too old", true};
                       },
                   .wake_gpus = true,
                   .root = root.path()});
  ASSERT_EQ(machine.info().absent.size(), 1U);
  EXPECT_FALSE(machine.info().absent[0].needs_request);
  EXPECT_EQ(machine.info().absent[0].reason, "the driver is too old");
}

TEST(Machine, ReportsWhyTheBackendHasNoGpus) {
  Machine machine({.open_gpus = [] {
    return GpuBackendResult{nullptr, "the NVIDIA driver is too old", true};
  }});
  EXPECT_EQ(machine.num_gpus(), 0);
  ASSERT_EQ(machine.info().absent.size(), 1U);
  EXPECT_EQ(machine.info().absent[0].reason, "the NVIDIA driver is too old");
  EXPECT_EQ(message_of(machine, gpu()),
            "cuda:0 cannot be used: the NVIDIA driver is too old; use cpu:0");
}

TEST(Machine, ErrorNamesTheOptionForMoreDevices) {
  Machine machine({.cpu_devices = 2});
  EXPECT_EQ(message_of(machine, cpu(5)),
            "cpu:5 cannot be used: the cores form 2 CPU devices; use cpu:0, or start with "
            "--cpu-devices 6");
}

TEST(Machine, RejectsInvalidDeviceCounts) {
  for (const int n : {0, -1, 4097}) {
    try {
      Machine machine({.cpu_devices = n});
      FAIL() << n << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::Usage);
    }
  }
}

TEST(Machine, SplitsMemoryIntoSeparateAccounts) {
  Machine machine({.cpu_devices = 4});
  MemoryAccount& first = machine.at(cpu(0)).memory();
  MemoryAccount& last = machine.at(cpu(3)).memory();
  EXPECT_EQ(first.limit_bytes(), last.limit_bytes());
  const TensorId a = last.reserve(10, {});
  const TensorId b = first.reserve(20, {});
  EXPECT_EQ(first.used_bytes(), 20);
  EXPECT_EQ(last.used_bytes(), 10);
  const TensorList list = list_tensors(machine);
  ASSERT_EQ(list.tensors.size(), 2U);
  EXPECT_EQ(list.tensors[0].id, a);
  EXPECT_EQ(list.tensors[1].id, b);
  EXPECT_EQ(list.tensors[1].device, cpu(0));
}

TEST(Machine, DividesMemoryAmongProcesses) {
  const Machine alone;
  const Machine one_of_four({.processes = 4});
  const auto limit = [](const Machine& m) {
    return static_cast<double>(m.info().devices[0].memory_limit_bytes);
  };
  EXPECT_NEAR(limit(one_of_four) / limit(alone), 0.25, 0.1);  // free memory fluctuates
}

TEST(Machine, CreatesManyDevices) {
  Machine machine({.cpu_devices = 4096});
  EXPECT_EQ(machine.num_cpus(), 4096);
  EXPECT_EQ(machine.at(cpu(4095)).threads().size(), 1);
}

TEST(Machine, RespectsTheAffinityMask) {
  // Runs on a separate thread, because the mask is per thread.
  std::thread([] {
    const std::vector<int> last = {thread_affinity().back()};
    ASSERT_TRUE(set_thread_affinity(last));
    const Machine machine;
    EXPECT_EQ(machine.info().devices[0].cores, last);
  }).join();
}

TEST(Machine, CountsTheDevicesOnTheBusiestCore) {
  Machine one({.cpu_devices = 1});
  EXPECT_EQ(core_load(one, one.devices()), 1);
  const int cores = static_cast<int>(one.at(cpu()).info().cores.size());
  Machine crowded({.cpu_devices = cores + 1});
  EXPECT_EQ(core_load(crowded, crowded.devices()), 2);
}

}  // namespace
}  // namespace lab
