#include "compute/machine/resource_limits.h"

#include <gtest/gtest.h>

#include "compute/core/units.h"
#include "tests/compute/machine/fake_root.h"

namespace lab {
namespace {

using test::FakeRoot;

constexpr char kMeminfo[] =
    "MemTotal:       16777216 kB\nMemFree:        1048576 kB\nMemAvailable:    8388608 kB\n";

TEST(MemoryInfo, ReadsMeminfo) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo);
  const MemoryInfo info = read_memory(root.path());
  EXPECT_EQ(info.total_bytes, 16 * kGiB);
  EXPECT_EQ(info.available_bytes, 8 * kGiB);
  EXPECT_TRUE(info.limited_by.empty());
}

TEST(MemoryInfo, UsesTheTightestAncestorGroup) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "0::/user/app\n")
      .file("sys/fs/cgroup/user/app/memory.max", "max\n")
      .file("sys/fs/cgroup/user/memory.max", std::to_string(4 * kGiB))
      .file("sys/fs/cgroup/user/memory.current", std::to_string(3 * kGiB))
      .file("sys/fs/cgroup/user/memory.stat",
            "anon 1\ninactive_file " + std::to_string(kGiB) + "\nactive_file 5\n");
  const MemoryInfo info = read_memory(root.path());
  EXPECT_EQ(info.available_bytes, 2 * kGiB);
  EXPECT_EQ(info.total_bytes, 4 * kGiB);
  EXPECT_EQ(info.limited_by, "cgroup limit of 4.00 GiB");
}

TEST(MemoryInfo, ReadsCgroupV1) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n")
      .file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(2 * kGiB))
      .file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(kGiB));
  EXPECT_EQ(read_memory(root.path()).available_bytes, kGiB);
}

TEST(MemoryInfo, IgnoresLimitsAboveTheMachine) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "4:memory:/\n")
      .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(read_memory(root.path()).available_bytes, 8 * kGiB);
}

TEST(MemoryInfo, FallsBackToTheKernelWithoutProc) {
  FakeRoot root;
  const MemoryInfo info = read_memory(root.path());
  EXPECT_GT(info.total_bytes, 0);
  EXPECT_GT(info.available_bytes, 0);
  EXPECT_LE(info.available_bytes, info.total_bytes);
}

TEST(CpuQuota, IsAbsentWithoutGroupsOrLimits) {
  FakeRoot root;
  EXPECT_FALSE(read_cpu_quota(root.path()));
  root.file("proc/self/cgroup", "0::/app\n").file("sys/fs/cgroup/app/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_cpu_quota(root.path()));
}

TEST(CpuQuota, UsesTheTightestAncestorGroup) {
  FakeRoot root;
  root.file("proc/self/cgroup", "0::/user/app\n")
      .file("sys/fs/cgroup/user/app/cpu.max", "400000 100000\n")
      .file("sys/fs/cgroup/user/cpu.max", "75000 50000\n");
  EXPECT_DOUBLE_EQ(read_cpu_quota(root.path()).value_or(0), 1.5);
}

TEST(CpuQuota, ReadsCgroupV1) {
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
