#include "compute/machine/control_group.h"

#include <gtest/gtest.h>

#include "tests/compute/machine/fake_root.h"

namespace lab {
namespace {

using test::FakeRoot;

TEST(CpuQuota, IsAbsentWithoutGroupsOrLimits) {
  FakeRoot root;
  EXPECT_FALSE(read_cpu_quota(root.path()));
  root.file("proc/self/cgroup", "0::/app\n").file("sys/fs/cgroup/app/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_cpu_quota(root.path()));
}

TEST(CpuQuota, IsThatOfTheTightestGroupOnTheWayUp) {
  FakeRoot root;
  root.file("proc/self/cgroup", "0::/user/app\n")
      .file("sys/fs/cgroup/user/app/cpu.max", "400000 100000\n")
      .file("sys/fs/cgroup/user/cpu.max", "75000 50000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(root.path()).value_or(0), 1.5);
}

TEST(CpuQuota, ReadsVersionOne) {
  FakeRoot root;
  root.file("proc/self/cgroup", "5:cpuset:/job\n4:cpu,cpuacct:/job\n0::/\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
      .file("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n")
      .file("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(root.path()).value_or(0), 0.5);
}

TEST(CpuQuota, SurvivesDamagedFiles) {
  for (const char* groups : {"", "nonsense\n", "0::\n", "0::app\n", "4:cpu\n", ":::\n"}) {
    for (const char* limit : {"", "x y", "-5 100000", "100000", "100000 0"}) {
      FakeRoot root;
      root.file("proc/self/cgroup", groups).file("sys/fs/cgroup/cpu.max", limit);
      EXPECT_FALSE(read_cpu_quota(root.path())) << groups << limit;
    }
  }
}

}  // namespace
}  // namespace lab
