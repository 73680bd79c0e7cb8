// Kinds of cores in descriptions of machines by hwloc, and the division of such cores.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compute/machine/core_division.h"
#include "compute/machine/cpu_topology.h"

namespace lab {
namespace {

// Cores of one kind in the order of their OS numbers.
struct CoresInXml {
  int cores = 0;
  int threads = 1;                                         // per core
  std::vector<std::pair<std::string, std::string>> facts;  // as hwloc names them
};

std::string xml_set(std::uint64_t first, std::uint64_t bits) {
  return fmt::format("0x{:08x}", ((std::uint64_t{1} << bits) - 1) << first);
}

std::string xml_sets(std::uint64_t first, std::uint64_t bits) {
  const std::string set = xml_set(first, bits);
  return fmt::format(R"(cpuset="{0}" complete_cpuset="{0}" nodeset="0x1" complete_nodeset="0x1")",
                     set);
}

// hwloc's XML of a machine with these cores, at most 32 hardware threads; each core has an L2
// cache. Without its libxml2 plugin, hwloc reads XML only if the header is a line of its own.
std::string xml_of(const std::vector<CoresInXml>& all) {
  std::string cores, kinds;
  std::uint64_t thread = 0;
  int index = 10, core = 0;
  for (const CoresInXml& some : all) {
    const std::uint64_t first = thread;
    for (int i = 0; i < some.cores; ++i) {
      const auto threads = static_cast<std::uint64_t>(some.threads);
      const std::string sets = xml_sets(thread, threads);
      cores +=
          fmt::format(R"(<object type="L2Cache" {} gp_index="{}" cache_size="1048576" )"
                      R"(depth="2" cache_linesize="64" cache_associativity="8" cache_type="0">)",
                      sets, index++);
      cores += fmt::format(R"(<object type="Core" os_index="{}" {} gp_index="{}">)", core++, sets,
                           index++);
      for (const std::uint64_t end = thread + threads; thread < end; ++thread) {
        cores += fmt::format(R"(<object type="PU" os_index="{}" {} gp_index="{}"/>)", thread,
                             xml_sets(thread, 1), index++);
      }
      cores += "</object></object>";
    }
    if (some.facts.empty()) continue;
    kinds += fmt::format(R"(<cpukind cpuset="{}")", xml_set(first, thread - first));
    for (const auto& [name, value] : some.facts) {  // Linux's capacity decides the rank
      if (name == "LinuxCapacity") kinds += fmt::format(R"( forced_efficiency="{}")", value);
    }
    kinds += '>';
    for (const auto& [name, value] : some.facts) {
      kinds += fmt::format(R"(<info name="{}" value="{}"/>)", name, value);
    }
    kinds += "</cpukind>";
  }
  const std::string sets = xml_sets(0, thread);
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>{4}<topology version="2.0">)"
      R"(<object type="Machine" os_index="0" {0} allowed_cpuset="{1}" allowed_nodeset="0x1" )"
      R"(gp_index="1"><object type="Package" os_index="0" {0} gp_index="2">)"
      R"(<object type="NUMANode" os_index="0" {0} gp_index="3" local_memory="1073741824"/>)"
      R"({2}</object></object>{3}</topology>)",
      sets, xml_set(0, thread), cores, kinds, '\n');
}

CoresInXml intel_cores(int cores, int threads, const std::string& type, const std::string& mhz) {
  return {cores, threads, {{"CoreType", type}, {"FrequencyMaxMHz", mhz}}};
}

CoresInXml arm_cores(int cores, const std::string& capacity) {
  return {cores, 1, {{"LinuxCapacity", capacity}}};
}

CpuTopology eight_and_sixteen() {
  return read_topology(
      xml_of({intel_cores(8, 2, "IntelCore", "5200"), intel_cores(16, 1, "IntelAtom", "3900")}));
}

// Cores per kind of each device, such as "8+0 0+8 0+8".
std::string division(const CpuTopology& topology, int devices) {
  std::string text;
  for (int i = 0; i < devices; ++i) {
    std::vector<int> counts(topology.kinds.size());
    for (const CpuCore& core : split_cores(topology.cores, i, devices)) {
      ++counts[static_cast<std::size_t>(core.kind)];
    }
    text += fmt::format("{}{}", i == 0 ? "" : " ", fmt::join(counts, "+"));
  }
  return text;
}

TEST(CoreKinds, AreReadFromHwloc) {
  const CpuTopology t = eight_and_sixteen();
  ASSERT_EQ(t.cores.size(), 24U);
  ASSERT_EQ(t.kinds.size(), 2U);
  EXPECT_EQ(t.kinds[0].number, 0);
  EXPECT_EQ(t.kinds[0].name, "performance");
  EXPECT_EQ(t.kinds[0].type, "IntelCore");
  EXPECT_EQ(t.kinds[0].clock_max_mhz, 5200);
  EXPECT_FALSE(t.kinds[0].clock_base_mhz);
  EXPECT_EQ(t.kinds[1].number, 1);
  EXPECT_EQ(t.kinds[1].name, "efficient");
  EXPECT_EQ(t.kinds[1].type, "IntelAtom");
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(t.cores[i].kind, i < 8 ? 0 : 1) << i;
}

TEST(CoreKinds, EqualCoresHaveNone) {
  EXPECT_TRUE(read_topology("package:1 core:4 pu:2").kinds.empty());
  const CpuTopology t = read_topology(xml_of({intel_cores(4, 2, "IntelCore", "5200")}));
  ASSERT_EQ(t.cores.size(), 4U);
  EXPECT_TRUE(t.kinds.empty());
  const DeviceInfo info = describe_cores(t, t.cores);
  EXPECT_TRUE(info.core_kinds.empty());
  EXPECT_EQ(info.cores, (std::vector<int>{0, 2, 4, 6}));
}

TEST(CoreKinds, TheFastestComesFirst) {
  const CpuTopology t = read_topology(xml_of({arm_cores(4, "446"), arm_cores(4, "1024")}));
  const DeviceInfo info = describe_cores(t, t.cores);
  EXPECT_EQ(info.cores, (std::vector<int>{4, 5, 6, 7, 0, 1, 2, 3}));
  ASSERT_EQ(info.core_kinds.size(), 2U);
  EXPECT_EQ(info.core_kinds[0].capacity, 1024);
  EXPECT_EQ(info.core_kinds[0].cores, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(info.core_kinds[1].capacity, 446);
  EXPECT_EQ(info.core_kinds[1].cores, (std::vector<int>{4, 5, 6, 7}));
  // A quota takes the fastest cores.
  const std::vector<CpuCore> within = cores_within(t.cores, 2);
  ASSERT_EQ(within.size(), 2U);
  EXPECT_EQ(within[0].os_number, 4);
}

TEST(CoreKinds, AMiddleKindIsNamedByItsRankOrType) {
  const CpuTopology arm =
      read_topology(xml_of({arm_cores(4, "250"), arm_cores(3, "780"), arm_cores(1, "1024")}));
  ASSERT_EQ(arm.kinds.size(), 3U);
  EXPECT_EQ(arm.kinds[0].name, "performance");
  EXPECT_EQ(arm.kinds[1].name, "medium");
  EXPECT_EQ(arm.kinds[2].name, "efficient");
  const CpuTopology intel = read_topology(
      xml_of({intel_cores(6, 2, "IntelCore", "4800"), intel_cores(8, 1, "IntelAtom", "3800"),
              intel_cores(2, 1, "IntelAtom", "2500")}));
  ASSERT_EQ(intel.kinds.size(), 3U);
  EXPECT_EQ(intel.kinds[1].name, "efficient");
  EXPECT_EQ(intel.kinds[1].clock_max_mhz, 3800);
  EXPECT_EQ(intel.kinds[2].name, "efficient");
}

TEST(CoreKinds, FavouredCoresAreNoKind) {
  const CpuTopology t = read_topology(xml_of({{2, 1, {{"LinuxCapacity", "1024"}}},
                                              {6, 1, {{"LinuxCapacity", "980"}}},
                                              {8, 1, {{"LinuxCapacity", "640"}}}}));
  ASSERT_EQ(t.kinds.size(), 2U);
  EXPECT_EQ(t.kinds[0].capacity, 1024);
  EXPECT_EQ(division(t, 2), "8+0 0+8");
  EXPECT_TRUE(read_topology(xml_of({arm_cores(2, "1024"), arm_cores(6, "980")})).kinds.empty());
}

TEST(CoreKinds, UnrankedKindsHaveNoName) {
  const CpuTopology t = read_topology(
      xml_of({{2, 1, {{"Colour", "red"}}}, {2, 1, {{"Colour", "blue"}}}, {1, 1, {}}}));
  ASSERT_EQ(t.kinds.size(), 3U);
  for (const CoreKind& kind : t.kinds) EXPECT_EQ(kind.name, "");
  EXPECT_EQ(t.cores.back().os_number, 4) << "the core of no kind";
}

TEST(CoreKinds, OnlyADeviceWithSeveralKindsMixesThem) {
  const CpuTopology t = eight_and_sixteen();
  EXPECT_EQ(division(t, 1), "8+16");
  EXPECT_EQ(division(t, 2), "8+0 0+16");
  EXPECT_EQ(division(t, 3), "8+0 0+8 0+8");
  EXPECT_EQ(division(t, 4), "8+0 0+5 0+5 0+6");
  EXPECT_EQ(division(t, 6), "4+0 4+0 0+4 0+4 0+4 0+4");
  const DeviceInfo slow = describe_cores(t, split_cores(t.cores, 1, 2));
  ASSERT_EQ(slow.core_kinds.size(), 1U);
  EXPECT_EQ(slow.core_kinds[0].number, 1);
  EXPECT_EQ(slow.core_kinds[0].cores.size(), 16U);
}

TEST(CoreKinds, CoresWithTwoThreadsCountAsOne) {
  const CpuTopology t = read_topology(
      xml_of({intel_cores(6, 2, "IntelCore", "4700"), intel_cores(8, 1, "IntelAtom", "3600")}));
  EXPECT_EQ(division(t, 2), "6+0 0+8");
  EXPECT_EQ(division(t, 3), "6+0 0+4 0+4");
  EXPECT_EQ(division(t, 7), "2+0 2+0 2+0 0+2 0+2 0+2 0+2");
  const DeviceInfo fast = describe_cores(t, split_cores(t.cores, 0, 2));
  EXPECT_EQ(fast.cores, (std::vector<int>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(fast.hardware_threads[5], (std::vector<int>{10, 11}));
}

TEST(CoreKinds, EqualNumbersOfCoresAreDividedEqually) {
  const CpuTopology t = read_topology(xml_of({arm_cores(4, "446"), arm_cores(4, "1024")}));
  EXPECT_EQ(division(t, 1), "4+4");
  EXPECT_EQ(division(t, 2), "4+0 0+4");
  EXPECT_EQ(division(t, 3), "2+0 2+0 0+4");
  EXPECT_EQ(division(t, 4), "2+0 2+0 0+2 0+2");
  EXPECT_EQ(division(t, 8), "1+0 1+0 1+0 1+0 0+1 0+1 0+1 0+1");
  EXPECT_EQ(split_cores(t.cores, 8, 9).front().os_number, 4) << "more devices than cores";
}

TEST(CoreKinds, FewerDevicesThanKindsJoinNeighbours) {
  const CpuTopology t = read_topology(
      xml_of({intel_cores(6, 2, "IntelCore", "4800"), intel_cores(8, 1, "IntelAtom", "3800"),
              intel_cores(2, 1, "IntelAtom", "2500")}));
  EXPECT_EQ(division(t, 1), "6+8+2");
  EXPECT_EQ(division(t, 2), "6+0+0 0+8+2");
  EXPECT_EQ(division(t, 3), "6+0+0 0+8+0 0+0+2");
  EXPECT_EQ(division(t, 4), "6+0+0 0+4+0 0+4+0 0+0+2");
}

// Every division covers each core once, in order, and gives every device a core.
TEST(CoreKinds, PartsCoverEveryCoreOnce) {
  const CpuTopology t =
      read_topology(xml_of({arm_cores(5, "250"), arm_cores(1, "780"), arm_cores(3, "1024")}));
  for (int devices = 1; devices <= 9; ++devices) {
    SCOPED_TRACE(devices);
    std::vector<int> seen;
    for (int i = 0; i < devices; ++i) {
      const auto part = split_cores(t.cores, i, devices);
      EXPECT_FALSE(part.empty());
      for (const CpuCore& core : part) seen.push_back(core.os_number);
    }
    EXPECT_EQ(seen, (std::vector<int>{6, 7, 8, 5, 0, 1, 2, 3, 4}));
  }
}

}  // namespace
}  // namespace lab
