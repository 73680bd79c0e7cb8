#include "compute/machine/gpu_monitor.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>

#include "compute/core/units.h"
#include "compute/machine/telemetry.h"
#include "tests/compute/machine/fake_root.h"
#include "tests/support/fake_nvml/fake_library.h"

namespace lab {
namespace {

using test::FakeNvml;
using test::FakeRoot;

const std::string kFirst = "0000:01:00.0", kSecond = "0000:41:00.0";

void set_power(FakeRoot& root, const std::string& address, const std::string& status) {
  root.file("sys/bus/pci/devices/" + address + "/power/runtime_status", status + "\n");
}

void add_gpu(FakeRoot& root, const std::string& address, const std::string& status) {
  const std::string folder = "sys/bus/pci/devices/" + address;
  root.file(folder + "/vendor", "0x10de\n")
      .file(folder + "/class", "0x030200\n")
      .file(folder + "/device", "0x2335\n")
      .file(folder + "/numa_node", "1\n")
      .file(folder + "/local_cpulist", "16-31\n");
  set_power(root, address, status);
}

// A monitor whose clock advances only in after() and whose readings cost nothing.
struct Watch {
  Watch(const FakeRoot& root, const FakeNvml& fake)
      : monitor({.root = root.path(),
                 .library = fake.path(),
                 .now_s = [this] { return now_s; },
                 .spent = [] { return PollCost{}; }}) {}
  std::vector<GpuTelemetry> after(double seconds) {
    now_s += seconds;
    return monitor.read(now_s);
  }
  double now_s = 0;
  GpuMonitor monitor;
};

TEST(PollBudget, StaysWithinItsShareOfACore) {
  PollBudget budget(1, 0.002);
  EXPECT_TRUE(budget.due(0));
  budget.spent(0, {.cpu_s = 0.0001});
  EXPECT_FALSE(budget.due(0.9));
  EXPECT_TRUE(budget.due(1));
  budget.spent(1, {.cpu_s = 0.01});
  EXPECT_FALSE(budget.due(5.9)) << "10 ms are 0.2 % of 5 s";
  EXPECT_TRUE(budget.due(6));
}

TEST(GpuMonitor, MergesFilesAndNvml) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  root.file("proc/4242/comm", "pyth\x1bon3\n");
  const FakeNvml fake("h200");
  Watch watch(root, fake);
  const auto readings = watch.after(1);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].pci_bus_id, kFirst);
  EXPECT_FALSE(readings[0].asleep);
  EXPECT_DOUBLE_EQ(readings[0].utilisation.value_or(0), 0.87);
  ASSERT_TRUE(readings[0].processes);
  EXPECT_EQ(readings[0].processes->at(0).name.value_or(""), "pyth?on3");
  EXPECT_NE(readings[0].processes->at(1).name.reason().find("cannot be seen"), std::string::npos);
  ASSERT_EQ(watch.monitor.facts().size(), 1U);
  const GpuFacts& facts = watch.monitor.facts()[0];
  EXPECT_EQ(facts.name, "NVIDIA H200");
  EXPECT_EQ(facts.unread, "");
  EXPECT_EQ(facts.numa_node.value_or(-1), 1);
  EXPECT_EQ(facts.near_cpus.value_or(""), "16-31");
  EXPECT_EQ(watch.monitor.facts_version(), 1);
}

TEST(GpuMonitor, FindsGpusThatOnlyNvmlReports) {
  const FakeRoot root;
  const FakeNvml fake("pair");
  Watch watch(root, fake);
  const auto readings = watch.after(1);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[1].pci_bus_id, kSecond);
  EXPECT_FALSE(watch.monitor.facts()[0].numa_node.reason().empty());
  ASSERT_EQ(watch.monitor.facts()[0].peers.size(), 1U);
  EXPECT_EQ(watch.monitor.facts()[0].peers[0].pci_bus_id, kSecond);
}

TEST(GpuMonitor, DoesNotReadASleepingGpu) {
  FakeRoot root;
  add_gpu(root, kFirst, "suspended");
  const FakeNvml fake("h200");
  const int calls = fake.calls(), opened = fake.open();
  Watch watch(root, fake);
  for (int i = 0; i < 5; ++i) {
    const auto readings = watch.after(2);
    ASSERT_EQ(readings.size(), 1U);
    EXPECT_TRUE(readings[0].asleep);
    EXPECT_NE(readings[0].utilisation.reason().find("asleep"), std::string::npos);
  }
  EXPECT_EQ(fake.calls(), calls);
  EXPECT_EQ(fake.open(), opened) << "NVML is not started";
  EXPECT_EQ(watch.monitor.facts_version(), 1);
  EXPECT_NE(watch.monitor.facts()[0].unread.find("asleep"), std::string::npos);
  EXPECT_EQ(watch.monitor.facts()[0].name, "NVIDIA GPU (PCI 10de:2335 at 0000:01:00.0)");
}

TEST(GpuMonitor, FollowsGpusThatWakeOrSleep) {
  FakeRoot root;
  add_gpu(root, kFirst, "suspended");
  const FakeNvml fake("h200");
  Watch watch(root, fake);
  watch.after(1);
  set_power(root, kFirst, "active");
  auto readings = watch.after(1);
  EXPECT_FALSE(readings[0].asleep);
  EXPECT_TRUE(readings[0].utilisation && readings[0].pcie);
  EXPECT_EQ(watch.monitor.facts_version(), 2);
  EXPECT_EQ(watch.monitor.facts()[0].name, "NVIDIA H200");
  set_power(root, kFirst, "suspended");
  const int calls = fake.calls();
  readings = watch.after(1);
  EXPECT_TRUE(readings[0].asleep);
  EXPECT_FALSE(readings[0].utilisation || readings[0].processes);
  EXPECT_EQ(fake.calls(), calls);
  EXPECT_EQ(watch.monitor.facts()[0].name, "NVIDIA H200") << "known facts are kept";
  set_power(root, kFirst, "active");
  readings = watch.after(0.5);
  EXPECT_TRUE(readings[0].utilisation && readings[0].processes &&
              readings[0].pcie_received_bytes_per_s)
      << "all at once when it wakes";
}

TEST(GpuMonitor, ReadsOneGpuWhileTheOtherSleeps) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  add_gpu(root, kSecond, "suspended");
  const FakeNvml fake("pair");
  const int calls = fake.calls(1);
  Watch watch(root, fake);
  auto readings = watch.after(1);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_TRUE(readings[0].utilisation);
  EXPECT_TRUE(readings[1].asleep);
  EXPECT_EQ(fake.calls(1), calls);
  EXPECT_TRUE(watch.monitor.facts()[0].peers.empty());
  set_power(root, kSecond, "active");
  readings = watch.after(1);
  EXPECT_TRUE(readings[1].utilisation);
  EXPECT_EQ(watch.monitor.facts()[0].peers.size(), 1U);
  EXPECT_EQ(watch.monitor.facts()[1].peers.size(), 1U);
}

TEST(GpuMonitor, GivesReasonsWithoutNvml) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  root.file("proc/driver/nvidia/gpus/" + kFirst + "/information", "Model: NVIDIA H200\n");
  const FakeNvml mismatch("mismatch");
  Watch watch(root, mismatch);
  const auto readings = watch.after(1);
  ASSERT_EQ(readings.size(), 1U);
  for (const auto& reason :
       {readings[0].power_w.reason(), readings[0].encoder_utilisation.reason(),
        readings[0].pcie_sent_bytes_per_s.reason(), readings[0].video_clock_mhz.reason(),
        readings[0].persistence_mode.reason(), readings[0].compute_mode.reason(),
        readings[0].display_active.reason(), watch.monitor.facts()[0].uuid.reason(),
        watch.monitor.facts()[0].vbios_version.reason()}) {
    EXPECT_NE(reason.find("NVML does not start"), std::string::npos) << reason;
  }
  const GpuFacts& facts = watch.monitor.facts()[0];
  EXPECT_EQ(facts.name, "NVIDIA H200") << "read from files";
  EXPECT_EQ(facts.unread, readings[0].power_w.reason());
  EXPECT_EQ(facts.numa_node.value_or(-1), 1);

  GpuMonitor nothing({.root = FakeRoot().path(), .library = "/nowhere/libnvidia-ml.so.1"});
  EXPECT_TRUE(nothing.read(0).empty());
  EXPECT_TRUE(nothing.facts().empty());
}

TEST(GpuMonitor, ReportsGpusThatNvmlHides) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  add_gpu(root, "0000:c1:00.0", "active");
  const FakeNvml fake("h200");
  Watch watch(root, fake);
  const auto readings = watch.after(1);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_TRUE(readings[0].utilisation);
  EXPECT_NE(readings[1].utilisation.reason().find("does not report this GPU"), std::string::npos);
}

TEST(GpuMonitor, LimitsTheRateOfSlowAndFastFields) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  const FakeNvml fake("h200");
  Watch watch(root, fake);
  EXPECT_DOUBLE_EQ(watch.after(1)[0].t_s, 1);
  const int first = fake.calls();
  EXPECT_DOUBLE_EQ(watch.after(0.01)[0].t_s, 1) << "an earlier reading, with its time";
  EXPECT_EQ(fake.calls(), first);
  watch.after(0.5);
  const int fast = fake.calls() - first;
  watch.after(0.6);
  const int both = fake.calls() - first - fast;
  EXPECT_GT(fast, 0);
  EXPECT_GT(both, fast);
}

TEST(GpuMonitor, ReadsThroughputOfOneGpuPerFiveSeconds) {
  const FakeRoot root;
  const FakeNvml fake("pair");
  Watch watch(root, fake);
  for (const GpuTelemetry& t : watch.after(1)) {
    EXPECT_DOUBLE_EQ(t.pcie_received_bytes_per_s.value_or(0), 23e9);
    EXPECT_DOUBLE_EQ(t.pcie_sent_bytes_per_s.value_or(0), 1.5e9);
  }
  const auto calls_of_both = [&](double seconds) {
    const int before = fake.calls(0) + fake.calls(1);
    watch.after(seconds);
    return fake.calls(0) + fake.calls(1) - before;
  };
  const int without = calls_of_both(3);
  EXPECT_EQ(calls_of_both(60), without + 2) << "two values of one GPU";
  EXPECT_EQ(calls_of_both(3), without);
  const int first = fake.calls(0), second = fake.calls(1);
  watch.after(60);
  EXPECT_EQ(fake.calls(1) - second, fake.calls(0) - first + 2) << "the other GPU's turn";
}

TEST(GpuMonitor, SupportsConcurrentReaders) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  const FakeNvml fake("h200");
  const int opened = fake.open();
  const auto look = [&] {
    GpuMonitor monitor({.root = root.path(), .library = fake.path()});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(monitor.read(i).size(), 1U);
  };
  { const std::jthread a(look), b(look); }
  EXPECT_EQ(fake.open(), opened);
}

TEST(Telemetry, ReportsGpuFactsOnce) {
  FakeRoot root;
  add_gpu(root, kFirst, "active");
  const FakeNvml fake("h200");
  Machine machine;
  TelemetryReader reader(machine, {.root = root.path(), .library = fake.path()});
  const Telemetry first = reader.read(1);
  ASSERT_EQ(first.gpus.size(), 1U);
  ASSERT_EQ(first.gpu_facts.size(), 1U);
  EXPECT_EQ(first.gpu_facts[0].pci_bus_id, first.gpus[0].pci_bus_id);
  const Telemetry second = reader.read(2);
  EXPECT_EQ(second.gpus.size(), 1U);
  EXPECT_TRUE(second.gpu_facts.empty());
}

double thread_cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Measures the cost of polling the GPUs, which stays under 0.5 % of a core even if the driver is
// slow. Monitors two GPUs with a clock that advances only between readings.
struct Polling {
  FakeRoot root = {};
  FakeNvml fake{"pair"};
  double now_s = 0;
  std::function<PollCost()> spent = nullptr;  // null: measured
  GpuMonitor monitor{{.root = root.path(),
                      .library = fake.path(),
                      .now_s = [this] { return now_s; },
                      .spent = spent}};
  double share_of_core = 0;
  double longest_gap_s = 0;  // between consecutive readings
  int readings = 0;

  ~Polling() { fake.slow(0, false); }

  double read_at(double time_s) {
    now_s = time_s;
    return monitor.read(now_s).at(0).t_s;
  }

  // Polls from 0 to `seconds`, every `every_s`. The first reading, which opens the library, is
  // excluded.
  void poll(double seconds, double every_s) {
    double last_s = read_at(0);
    const double begin_cpu_s = thread_cpu_s();
    while (now_s < seconds) {
      const double time_s = read_at(now_s + every_s);
      if (time_s == last_s) continue;
      longest_gap_s = std::max(longest_gap_s, time_s - last_s);
      last_s = time_s;
      ++readings;
    }
    share_of_core = (thread_cpu_s() - begin_cpu_s) / seconds;
    ::testing::Test::RecordProperty("percent_of_core", std::to_string(100 * share_of_core));
    ::testing::Test::RecordProperty("longest_gap_s", std::to_string(longest_gap_s));
    ::testing::Test::RecordProperty("readings", std::to_string(readings));
  }
};

TEST(GpuPolling, PollingTwoGpusAtTenHertzIsCheap) {
  Polling two;
  two.poll(60, 0.1);
  EXPECT_LT(two.share_of_core, 0.005);
}

// Every part of a reading takes 0.1 ms here, whatever the machine is doing.
TEST(GpuPolling, PollsFastDriversOften) {
  PollCost so_far;
  Polling two{.spent = [&so_far] {
    so_far.cpu_s += 1e-4;
    so_far.elapsed_s += 1e-4;
    return so_far;
  }};
  two.poll(10.95, 0.11);
  EXPECT_EQ(two.readings, 100) << "0.2 ms are 0.2 % of a reading every 0.1 s";
}

// 5 ms of CPU time per call: 60 ms per quick reading of two GPUs.
TEST(GpuPolling, PollsCpuBoundDriversRarely) {
  Polling two;
  two.fake.slow(5000, true);
  two.poll(300, 1);
  EXPECT_LT(two.share_of_core, 0.005);
  EXPECT_GT(two.longest_gap_s, 15) << "12 calls of 5 ms are 0.2 % of 30 s";
}

TEST(GpuPolling, PollsBlockingDriversAtFivePercent) {
  Polling two;
  two.read_at(0);
  two.fake.slow(2000, false);
  // The readings are far apart, because only the calls' 2 ms of a reading's duration are known
  // here.
  EXPECT_EQ(two.read_at(10'000), 10'000);
  EXPECT_EQ(two.read_at(10'000.4), 10'000) << "12 calls of 2 ms are a twentieth of 0.48 s";
  two.fake.slow(0, false);
  EXPECT_EQ(two.read_at(20'000), 20'000);
}

TEST(PollBudget, CountsWaitingSeparately) {
  PollBudget budget(1, 0.002);
  budget.spent(0, {.cpu_s = 0, .elapsed_s = 0.02});
  EXPECT_TRUE(budget.due(1)) << "20 ms are a twentieth of 0.4 s";
  budget.spent(0, {.cpu_s = 0, .elapsed_s = 0.2});
  EXPECT_FALSE(budget.due(3.9));
  EXPECT_TRUE(budget.due(4));
}

TEST(PollBudget, RecoversFromOneLongWait) {
  PollBudget budget(1, 0.002);
  budget.spent(0, {.cpu_s = 0, .elapsed_s = 60});
  EXPECT_FALSE(budget.due(29.9));
  EXPECT_TRUE(budget.due(30));
}

}  // namespace
}  // namespace lab
