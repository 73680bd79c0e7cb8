#include "compute/gpu/nvml/nvml_text.h"

#include <gtest/gtest.h>

#include "compute/gpu/nvml/nvml_library.h"

namespace lab::nvml {
namespace {

TEST(NvmlText, ReasonsDescribeTheErrorOrNameTheCall) {
  EXPECT_EQ(reason_of("nvmlX", kNotSupported), "this GPU or its driver does not report it");
  EXPECT_NE(reason_of("nvmlX", kGpuIsLost).find("restart the machine"), std::string::npos);
  EXPECT_EQ(reason_of("nvmlX", kFunctionNotFound), "the driver is too old: its NVML has no nvmlX");
  EXPECT_EQ(reason_of("nvmlX", 999), "nvmlX failed with NVML error 999");
}

TEST(NvmlText, ListsClockLimitsBySeverity) {
  EXPECT_TRUE(clock_limits(0).empty());
  EXPECT_EQ(clock_limits(0x1), std::vector<std::string>{"idle: no work"});
  const auto several = clock_limits(0x40 | 0x4);
  ASSERT_EQ(several.size(), 2U);
  EXPECT_EQ(several[0], "heat, slowed by the hardware");
  EXPECT_EQ(several[1], "power limit");
}

TEST(NvmlText, KeepsUnknownClockLimits) {
  EXPECT_EQ(clock_limits(0x4000), std::vector<std::string>{"unknown reason 0x4000"});
}

TEST(NvmlText, CountsCoresPerMultiprocessor) {
  EXPECT_EQ(cores_per_sm(9, 0), 128);
  EXPECT_EQ(cores_per_sm(8, 0), 64);
  EXPECT_EQ(cores_per_sm(8, 9), 128);
  EXPECT_EQ(cores_per_sm(99, 0), 0);
}

TEST(NvmlText, NamesComputeModes) {
  EXPECT_EQ(compute_mode_name(0), "default");
  EXPECT_EQ(compute_mode_name(2), "prohibited");
  EXPECT_EQ(compute_mode_name(3), "exclusive process");
  EXPECT_EQ(compute_mode_name(4), "");
}

TEST(NvmlText, ReportsUnknownValues) {
  EXPECT_EQ(named(1U, compute_mode_name).value_or(""), "exclusive thread");
  EXPECT_EQ(named(9U, compute_mode_name).reason(), "unknown value 9");
  EXPECT_EQ(named(Maybe<unsigned>::missing("lost"), compute_mode_name).reason(), "lost");
}

TEST(NvmlText, FormatsVersions) {
  EXPECT_EQ(cuda_version(13000), "13.0");
  EXPECT_EQ(cuda_version(12080), "12.8");
  EXPECT_EQ(nvlink_version(6), "4.0");
  EXPECT_EQ(nvlink_version(77), "");
  EXPECT_EQ(architecture_name(9), "Hopper");
  EXPECT_EQ(architecture_name(0xffffffff), "");
}

TEST(NvmlText, PeersReportWhyAccessIsUnavailable) {
  EXPECT_TRUE(peer_access(0).possible);
  for (const unsigned status : {1U, 2U, 3U, 4U, 5U, 6U, 99U}) {
    EXPECT_FALSE(peer_access(status).possible);
    EXPECT_FALSE(peer_access(status).why_not.empty()) << status;
  }
}

}  // namespace
}  // namespace lab::nvml
