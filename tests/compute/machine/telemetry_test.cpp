#include "compute/machine/telemetry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <variant>

#include "compute/core/units.h"
#include "compute/machine/sensors.h"
#include "compute/run/channel.h"
#include "tests/compute/machine/fake_root.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace lab {
namespace {

using test::FakeRoot;

TEST(Sensors, ReadsTicksPerCore) {
  FakeRoot root;
  root.file("proc/stat",
            "cpu  30 0 30 240 60 0 0 0 0 0\ncpu0 10 0 10 60 20 0 0 0 0 0\n"
            "cpu12 20 0 20 180 40 1 2 3 100 0\nintr 1 2 3\n");
  const auto ticks = read_core_ticks(root.path());
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_EQ(ticks.at(0).busy, 20);
  EXPECT_EQ(ticks.at(0).total, 100);
  EXPECT_EQ(ticks.at(12).busy, 46);
  EXPECT_EQ(ticks.at(12).total, 266);
}

TEST(Sensors, PrefersCpufreqForTheClock) {
  FakeRoot root;
  root.file("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 1000.5\nprocessor : 1\ncpu MHz : 2000\n");
  EXPECT_DOUBLE_EQ(read_clocks_mhz(root.path(), {0, 1}).at(0), 1000.5);
  root.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
  const auto clocks = read_clocks_mhz(root.path(), {0});
  EXPECT_DOUBLE_EQ(clocks.at(0), 3100);
}

TEST(Sensors, KnowsAVirtualMachineByItsProcessor) {
  FakeRoot root;
  EXPECT_FALSE(is_virtual_machine(root.path()));
  root.file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor_like avx\n");
  EXPECT_FALSE(is_virtual_machine(root.path()));
  root.file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu avx hypervisor\n");
  EXPECT_TRUE(is_virtual_machine(root.path()));
}

TEST(Sensors, FindsTheProcessorTemperature) {
  FakeRoot root;
  const auto none = read_temperature_c(find_cpu_temperature_files(root.path()));
  EXPECT_FALSE(none);
  EXPECT_NE(none.reason().find("no processor temperature sensor"), std::string::npos);
  root.file("sys/class/thermal/thermal_zone3/type", "x86_pkg_temp\n")
      .file("sys/class/thermal/thermal_zone3/temp", "41000\n");
  EXPECT_DOUBLE_EQ(*read_temperature_c(find_cpu_temperature_files(root.path())), 41);
  root.file("sys/class/hwmon/hwmon0/name", "nvme\n")
      .file("sys/class/hwmon/hwmon0/temp1_input", "90000\n")
      .file("sys/class/hwmon/hwmon1/name", "k10temp\n")
      .file("sys/class/hwmon/hwmon1/temp1_input", "52500\n")
      .file("sys/class/hwmon/hwmon2/name", "k10temp\n")
      .file("sys/class/hwmon/hwmon2/temp1_input", "55125\n");
  EXPECT_DOUBLE_EQ(*read_temperature_c(find_cpu_temperature_files(root.path())), 55.125);
}

TEST(Telemetry, RatesStartWithTheSecondReading) {
  Machine machine;
  const std::string core = std::to_string(machine.info().devices[0].cores[0]);
  FakeRoot root;
  root.file("proc/stat", "cpu" + core + " 10 0 10 80 0 0 0 0\n");
  TelemetryReader reader(machine, root.path());
  const Telemetry first = reader.read(1.5);
  EXPECT_FALSE(first.devices[0].utilisation);
  EXPECT_EQ(first.devices[0].utilisation.reason(), "not read yet");
  EXPECT_DOUBLE_EQ(first.devices[0].t_s, 1.5);
  root.file("proc/stat", "cpu" + core + " 40 0 10 90 10 0 0 0\n");
  const Telemetry second = reader.read();
  ASSERT_EQ(second.devices[0].core_utilisation.size(), machine.info().devices[0].cores.size());
  EXPECT_DOUBLE_EQ(second.devices[0].core_utilisation[0], 0.6);
}

TEST(Telemetry, KeepsTheLastRateWithoutNewTicks) {
  Machine machine;
  const std::string core = std::to_string(machine.info().devices[0].cores[0]);
  FakeRoot root;
  root.file("proc/stat", "cpu" + core + " 0 0 0 0 0 0 0 0\n");
  TelemetryReader reader(machine, root.path());
  reader.read();
  root.file("proc/stat", "cpu" + core + " 1 0 0 1 0 0 0 0\n");
  reader.read();
  EXPECT_DOUBLE_EQ(reader.read().devices[0].core_utilisation[0], 0.5);
}

TEST(Telemetry, TellsOtherProgramsFromTheHost) {
  Machine machine({.cpu_devices = 2});
  std::set<int> threads;
  for (const DeviceInfo& info : machine.info().devices) {
    for (const auto& core : info.hardware_threads) threads.insert(core.begin(), core.end());
  }
  FakeRoot root;
  const auto write = [&](int user, int idle, int steal) {
    std::string text;
    for (const int thread : threads) {
      text += fmt::format("cpu{} {} 0 0 {} 0 0 0 {}\n", thread, user, idle, steal);
    }
    root.file("proc/stat", text);
  };
  write(0, 0, 0);
  TelemetryReader reader(machine, root.path());
  EXPECT_FALSE(reader.read().others);
  write(60, 20, 20);
  const Telemetry t = reader.read();
  ASSERT_TRUE(t.others);
  const auto n = static_cast<double>(threads.size());
  EXPECT_EQ(t.others->threads, static_cast<int>(threads.size()));
  EXPECT_DOUBLE_EQ(t.others->host, 0.2 * n);
  EXPECT_NEAR(t.others->programs, std::max(0.0, 0.6 * n - t.lab_cpu), 1e-9);
  EXPECT_FALSE(reader.read().others) << "no ticks have passed";
}

TEST(Telemetry, GivesReasonsForMissingValues) {
  Machine machine;
  FakeRoot root;
  TelemetryReader reader(machine, root.path());
  reader.read();
  const Telemetry t = reader.read();
  const DeviceTelemetry& d = t.devices[0];
  EXPECT_EQ(d.utilisation.reason(), "/proc/stat cannot be read");
  EXPECT_FALSE(d.clock_mhz);
  EXPECT_FALSE(d.clock_mhz.reason().empty());
  EXPECT_FALSE(d.temperature_c.reason().empty());
}

TEST(Telemetry, ReadsThisProcess) {
  Machine machine({.cpu_devices = 2});
  const TensorId id = machine.at(cpu(1)).memory().reserve(4096, {});
  machine.at(cpu(1)).memory().release(id);
  TelemetryReader reader(machine);
  reader.read();
  const Telemetry t = reader.read();
  ASSERT_EQ(t.devices.size(), 2U);
  EXPECT_EQ(t.devices[1].lab_used_bytes, 0);
  EXPECT_EQ(t.devices[1].lab_peak_bytes, 4096);
  EXPECT_GT(*t.devices[0].memory_available_bytes, 0);
  EXPECT_GT(t.lab_rss_bytes, 1 * kMiB);
  EXPECT_GE(t.lab_cpu, 0);
}

TEST(TelemetrySampler, ReadsSoonOnRequest) {
  Machine machine;
  Channel channel;
  constexpr double kNever_s = 3600;
  TelemetrySampler sampler(machine, channel, kNever_s);
  int readings = 0;
  const auto wait_for = [&](int wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (readings < wanted && std::chrono::steady_clock::now() < end) {
      for (const Event& event : channel.drain()) {
        if (std::holds_alternative<Telemetry>(event.payload)) ++readings;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return readings >= wanted;
  };
  ASSERT_TRUE(wait_for(2)) << "the first reading has no rates, so a second one follows";
  sampler.read_now();
  EXPECT_TRUE(wait_for(3));
}

// Rates over a few milliseconds are noise.
TEST(TelemetrySampler, TakesTimeForRatesOnRequest) {
  Machine machine;
  Channel channel;
  TelemetrySampler sampler(machine, channel, 3600);
  sampler.watch_programs(true);  // as when the window opens on Devices
  std::vector<double> times;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (times.size() < 3 && std::chrono::steady_clock::now() < end) {
    for (const Event& event : channel.drain()) {
      if (const auto* reading = std::get_if<Telemetry>(&event.payload)) {
        times.push_back(reading->devices.front().t_s);
      }
    }
    if (times.size() == 2) sampler.read_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(times.size(), 3U);
  constexpr double kShortest_s = 0.24;
  EXPECT_GE(times[1] - times[0], kShortest_s);
  EXPECT_GE(times[2] - times[1], kShortest_s);
}

TEST(Telemetry, CountsPinnedWorkspaceAndPoolBytes) {
  const auto fake = std::make_shared<test::FakeBackend>(2, kGiB);
  Machine machine({.open_gpus = test::backend_opener(fake)});
  test::FakeGpu& gpu = fake->gpu(0);
  TelemetryReader reader(machine);
  const auto expect = [&](std::int64_t pinned, std::int64_t workspaces, std::int64_t pool) {
    const Telemetry t = reader.read();
    const DeviceTelemetry& d = t.devices.at(1);
    EXPECT_EQ(d.lab_pinned_bytes, pinned);
    EXPECT_EQ(d.lab_workspace_bytes, workspaces);
    EXPECT_EQ(d.lab_pool_bytes, pool);
    for (const DeviceTelemetry& other : {t.devices.at(0), t.devices.at(2)}) {
      EXPECT_EQ(other.lab_pinned_bytes + other.lab_workspace_bytes + other.lab_pool_bytes, 0);
    }
  };
  expect(0, 0, 0);
  auto pinned = gpu.allocate_pinned(3 * kMiB);
  gpu.workspace_bytes = 64 * kMiB;
  gpu.pool_kept_bytes = 5 * kMiB;
  std::byte* there = gpu.allocate(kMiB, gpu.main_stream());
  expect(3 * kMiB, 64 * kMiB, 6 * kMiB);
  gpu.release(there, gpu.main_stream());
  pinned.reset();
  expect(0, 64 * kMiB, 5 * kMiB);
  gpu.faults.loses = "trim_pool";
  EXPECT_THROW(gpu.trim_pool(), Error);
  expect(0, 64 * kMiB, 5 * kMiB);
}

TEST(Telemetry, ReportsALostGpu) {
  const auto fake = std::make_shared<test::FakeBackend>(1, 1 << 20);
  Machine machine({.open_gpus = test::backend_opener(fake)});
  TelemetryReader reader(machine);
  EXPECT_TRUE(reader.read().devices.at(1).lost.empty());
  fake->gpu(0).faults.loses = "trim_pool";
  EXPECT_THROW(fake->gpu(0).trim_pool(), Error);
  const Telemetry telemetry = reader.read();
  EXPECT_TRUE(telemetry.devices.at(0).lost.empty());
  EXPECT_EQ(telemetry.devices.at(1).lost, fake->gpu(0).lost());
}

}  // namespace
}  // namespace lab
