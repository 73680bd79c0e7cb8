#include "compute/machine/core_times.h"

#include <gtest/gtest.h>

#include "tests/compute/machine/fake_root.h"

namespace lab {
namespace {

using test::FakeRoot;

// This process takes next to no time in these tests.
TEST(CoreTimes, CountTheBusyTimeOfOthers) {
  FakeRoot root;
  root.file("proc/stat",
            "cpu0 100 0 0 900 0 0 0 0\ncpu1 0 0 0 1000 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n");
  const CoreTimes both({0, 1}, root.path()), one({1}, root.path());
  // cpu0: 300 of 1000 ticks busy, 100 of them taken by the host; cpu1: 100 of 1000.
  root.file("proc/stat",
            "cpu0 300 0 0 1600 0 0 0 100\ncpu1 0 50 50 1900 0 0 0 0\ncpu2 5000 0 0 0 0 0 0 0\n");
  ASSERT_TRUE(both.others());
  EXPECT_NEAR(*both.others(), 0.2, 0.01);
  ASSERT_TRUE(one.others());
  EXPECT_NEAR(*one.others(), 0.1, 0.02);
}

TEST(CoreTimes, AreUnknownWithoutEnoughTicks) {
  FakeRoot root;
  EXPECT_FALSE(CoreTimes({0}, root.path()).others()) << "no /proc/stat";
  root.file("proc/stat", "cpu0 100 0 0 900 0 0 0 0\n");
  const CoreTimes times({0}, root.path());
  EXPECT_FALSE(CoreTimes({7}, root.path()).others()) << "no such core";
  EXPECT_FALSE(CoreTimes({}, root.path()).others());
  root.file("proc/stat", "cpu0 110 0 0 910 0 0 0 0\n");
  EXPECT_FALSE(times.others()) << "20 ticks";
}

}  // namespace
}  // namespace lab
