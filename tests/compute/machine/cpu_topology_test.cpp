#include "compute/machine/cpu_topology.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "compute/machine/core_division.h"

namespace lab {
namespace {

constexpr char kTwoPackages[] = "package:2 [numa] l3:1 l2:4 l1d:1 core:1 pu:2";

TEST(CpuTopology, ReadsThisMachine) {
  const CpuTopology t = read_topology();
  ASSERT_FALSE(t.cores.empty());
  for (const CpuCore& core : t.cores) EXPECT_EQ(core.os_number, core.hardware_threads.front());
}

TEST(CpuTopology, NamesArmCoresByTheirNumbers) {
  constexpr char kSpark[] =
      "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd87\n\n"
      "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd85\n\n"
      "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd87\n";
  EXPECT_EQ(arm_processor_name(kSpark), "Arm Cortex-A725 and Arm Cortex-X925");
  EXPECT_EQ(arm_processor_name("CPU implementer : 0x41\nCPU part : 0xd4f\n"), "Arm Neoverse-V2");
  EXPECT_EQ(arm_processor_name("CPU implementer : 0x7f\nCPU part : 0x123\n"),
            "ARM core 0x123 of implementer 0x7f");
  EXPECT_EQ(arm_processor_name("model name : AMD EPYC\n"), "");
  EXPECT_EQ(arm_processor_name("CPU implementer : 0x41\n"), "");
}

TEST(CpuTopology, CountsAMachineWithTwoPackages) {
  const CpuTopology t = read_topology(kTwoPackages);
  ASSERT_EQ(t.cores.size(), 8U);
  const DeviceInfo all = describe_cores(t, t.cores);
  EXPECT_EQ(all.threads, 8);
  EXPECT_EQ(all.packages, 2);
  EXPECT_EQ(all.numa_nodes, (std::vector<int>{0, 1}));
  ASSERT_EQ(all.caches.size(), 3U);
  EXPECT_EQ(all.caches[0].level, 1);
  EXPECT_EQ(all.caches[0].instances, 8);
  EXPECT_EQ(all.caches[2].level, 3);
  EXPECT_EQ(all.caches[2].instances, 2);
}

TEST(CpuTopology, UsesOneHardwareThreadPerCore) {
  const CpuTopology t = read_topology(kTwoPackages);
  for (const CpuCore& core : t.cores) EXPECT_EQ(core.hardware_threads.size(), 2U);
  const DeviceInfo all = describe_cores(t, t.cores);
  EXPECT_EQ(all.cores.size(), 8U);
  ASSERT_EQ(all.hardware_threads.size(), 8U);
  EXPECT_EQ(all.hardware_threads[7].size(), 2U);
  EXPECT_EQ(all.hardware_threads[7].front(), all.cores[7]);
}

TEST(CpuTopology, QuotaLimitsTheNumberOfCores) {
  const CpuTopology t = read_topology(kTwoPackages);
  EXPECT_EQ(cores_within(t.cores, 0.2).size(), 1U);
  EXPECT_EQ(cores_within(t.cores, 2).size(), 2U);
  EXPECT_EQ(cores_within(t.cores, 2.1).size(), 3U);
  EXPECT_EQ(cores_within(t.cores, 8.5).size(), 8U);
  EXPECT_EQ(cores_within(t.cores, 1e30).size(), 8U);
}

TEST(CpuTopology, PartsReportTheirOwnCachesAndNodes) {
  const CpuTopology t = read_topology(kTwoPackages);
  const DeviceInfo half = describe_cores(t, split_cores(t.cores, 1, 2));
  EXPECT_EQ(half.threads, 4);
  EXPECT_EQ(half.packages, 1);
  EXPECT_EQ(half.numa_nodes, (std::vector<int>{1}));
  EXPECT_EQ(half.caches[0].instances, 4);
  EXPECT_EQ(half.caches[2].instances, 1);
}

TEST(CpuTopology, PartsNameTheirPackagesAndTheCachesThatTheyShare) {
  const CpuTopology t = read_topology("package:2 l3:1 l2:2 core:1 pu:1");
  const DeviceInfo all = describe_cores(t, t.cores);
  EXPECT_EQ(all.core_packages, (std::vector<int>{0, 0, 1, 1}));
  const auto shared = [](const DeviceInfo& info) { return info.caches.back().numbers; };
  ASSERT_EQ(all.caches.back().level, 3);
  EXPECT_EQ(shared(all), (std::vector<int>{0, 1}));
  for (int part = 0; part < 4; ++part) {
    const DeviceInfo quarter = describe_cores(t, split_cores(t.cores, part, 4));
    EXPECT_EQ(quarter.core_packages, std::vector<int>{part / 2});
    EXPECT_EQ(shared(quarter), std::vector<int>{part / 2});
  }
}

TEST(CpuTopology, PartsAreContiguousAndCoverEveryCoreOnce) {
  const CpuTopology t = read_topology("package:1 core:7 pu:1");
  for (int devices = 1; devices <= 7; ++devices) {
    SCOPED_TRACE(devices);
    std::vector<int> seen;
    for (int i = 0; i < devices; ++i) {
      const auto part = split_cores(t.cores, i, devices);
      EXPECT_GE(static_cast<int>(part.size()), 7 / devices);
      EXPECT_LE(static_cast<int>(part.size()), 7 / devices + 1);
      for (const CpuCore& core : part) seen.push_back(core.os_number);
    }
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST(CpuTopology, MoreDevicesThanCoresShareThem) {
  const CpuTopology t = read_topology("package:1 core:2 pu:1");
  std::multiset<int> used;
  for (int i = 0; i < 4; ++i) {
    const auto part = split_cores(t.cores, i, 4);
    ASSERT_EQ(part.size(), 1U);
    used.insert(part.front().os_number);
  }
  EXPECT_EQ(used, (std::multiset<int>{0, 0, 1, 1}));
  EXPECT_NE(split_cores(t.cores, 0, 4).front().os_number,
            split_cores(t.cores, 1, 4).front().os_number);
}

TEST(CpuTopology, FallsBackToTheAffinityMask) {
  EXPECT_FALSE(read_topology("not a topology").cores.empty());
}

// Runs on separate threads, because the mask is per thread.
TEST(Affinity, PinsAThread) {
  std::thread([] {
    const std::vector<int> all = thread_affinity();
    ASSERT_FALSE(all.empty());
    const std::vector<int> last = {all.back()};
    EXPECT_TRUE(set_thread_affinity(last));
    EXPECT_EQ(thread_affinity(), last);
    EXPECT_TRUE(set_thread_affinity(all));
    EXPECT_EQ(thread_affinity(), all);
  }).join();
}

TEST(Affinity, RejectsMissingProcessors) {
  std::thread([] {
    const std::vector<int> before = thread_affinity();
    EXPECT_FALSE(set_thread_affinity({}));
    for (const int processor : {-1, 5000, 1 << 19, 1 << 30}) {
      EXPECT_FALSE(set_thread_affinity({&processor, 1})) << processor;
    }
    EXPECT_EQ(thread_affinity(), before);
  }).join();
}

TEST(Affinity, UsesTheAvailableProcessorsOfAList) {
  std::thread([] {
    const std::vector<int> first = {thread_affinity().front()};
    const std::vector<int> with_unknown = {first.front(), 5000};
    EXPECT_TRUE(set_thread_affinity(with_unknown));
    EXPECT_EQ(thread_affinity(), first);
  }).join();
}

TEST(Affinity, OfTheProcessIsThatOfItsMainThread) {
  const std::vector<int> all = process_affinity();
  ASSERT_FALSE(all.empty());
  std::jthread([&] {
    set_thread_affinity({&all.back(), 1});
    EXPECT_EQ(thread_affinity(), std::vector{all.back()});
    EXPECT_EQ(process_affinity(), all);
  });
}

}  // namespace
}  // namespace lab
