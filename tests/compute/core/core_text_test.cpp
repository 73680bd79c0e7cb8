#include "compute/core/events/core_text.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

DeviceInfo device_of(std::vector<CoreKind> kinds) {
  DeviceInfo info;
  for (CoreKind& kind : kinds) {
    for (int& core : kind.cores) {
      core = static_cast<int>(info.cores.size());
      info.cores.push_back(core);
    }
  }
  info.core_kinds = std::move(kinds);
  return info;
}

CoreKind kind_of(int number, const std::string& name, std::size_t cores) {
  CoreKind kind;
  kind.number = number;
  kind.name = name;
  kind.cores.resize(cores);
  return kind;
}

TEST(CoreText, NamesKindsAndTheirClocks) {
  CoreKind fast = kind_of(0, "performance", 8), slow = kind_of(1, "efficient", 16);
  EXPECT_EQ(cores_text(device_of({fast, slow})), "24 cores: 8 performance, 16 efficient");
  fast.clock_max_mhz = 5200;
  slow.clock_base_mhz = 2400;
  EXPECT_EQ(core_kinds_text(device_of({fast, slow})),
            "8 performance (up to 5.2 GHz), 16 efficient (base clock 2.4 GHz)");
}

TEST(CoreText, ReportsTheCapacityWhereNoClockIsKnown) {
  CoreKind fast = kind_of(0, "performance", 1), middle = kind_of(1, "medium", 3);
  fast.capacity = 1024;
  middle.capacity = 780;
  EXPECT_EQ(core_kinds_text(device_of({fast, middle})),
            "1 performance (capacity 1024), 3 medium (capacity 780)");
}

TEST(CoreText, NumbersKindsWithoutRank) {
  EXPECT_EQ(cores_text(device_of({kind_of(1, "", 1)})), "1 core: 1 of kind 2");
}

TEST(CoreText, CountsEqualCoresOnly) {
  DeviceInfo info;
  info.cores = {0, 1, 2};
  EXPECT_EQ(cores_text(info), "3 cores");
  EXPECT_EQ(core_kinds_text(info), "");
}

TEST(CoreText, ComparesTheKindsOfDevices) {
  const DeviceInfo fast = device_of({kind_of(0, "performance", 4)});
  const DeviceInfo smaller = device_of({kind_of(0, "performance", 3)});
  const DeviceInfo slow = device_of({kind_of(1, "efficient", 4)});
  const DeviceInfo both = device_of({kind_of(0, "performance", 2), kind_of(1, "efficient", 2)});
  EXPECT_FALSE(have_unequal_cores(fast, smaller));
  EXPECT_TRUE(have_unequal_cores(fast, slow));
  EXPECT_TRUE(have_unequal_cores(fast, both));
  EXPECT_FALSE(have_unequal_cores(DeviceInfo{}, DeviceInfo{}));
}

}  // namespace
}  // namespace lab
