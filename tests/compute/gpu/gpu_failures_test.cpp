#include "compute/gpu/gpu_failures.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

constexpr const char* kDefaultArchitectures = "80-real,90a-real,90-virtual";

TEST(GpuCode, DefaultBuildSupportsAmpereAndLater) {
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {12, 1}}) {
    EXPECT_TRUE(has_gpu_code(kDefaultArchitectures, major, minor)) << major << '.' << minor;
  }
  EXPECT_FALSE(has_gpu_code(kDefaultArchitectures, 7, 5));
  EXPECT_FALSE(has_gpu_code(kDefaultArchitectures, 7, 0));
}

TEST(GpuCode, MachineCodeRunsWithinAMajorVersion) {
  EXPECT_TRUE(has_gpu_code("80-real", 8, 9));
  EXPECT_FALSE(has_gpu_code("80-real", 9, 0));
  EXPECT_FALSE(has_gpu_code("86-real", 8, 0));
}

TEST(GpuCode, PtxRunsOnLaterGpus) {
  EXPECT_TRUE(has_gpu_code("75-virtual", 12, 0));
  EXPECT_FALSE(has_gpu_code("80-virtual", 7, 5));
  EXPECT_TRUE(has_gpu_code("75", 7, 5));
  EXPECT_TRUE(has_gpu_code("75", 9, 0)) << "without a kind it is both";
}

TEST(GpuCode, SuffixesRestrictCodeToTheirGpus) {
  for (const char* architecture : {"90a", "90a-real", "90a-virtual"}) {
    EXPECT_TRUE(has_gpu_code(architecture, 9, 0)) << architecture;
    EXPECT_FALSE(has_gpu_code(architecture, 10, 0)) << architecture;
  }
  EXPECT_TRUE(has_gpu_code("100f", 10, 3));
  EXPECT_FALSE(has_gpu_code("100f", 12, 0));
}

TEST(GpuCode, UnknownArchitecturesMayRun) {
  for (const char* architecture : {"native", "all-major", ""}) {
    EXPECT_TRUE(has_gpu_code(architecture, 7, 5)) << architecture;
  }
}

TEST(GpuCode, ReasonNamesTheFix) {
  EXPECT_EQ(no_gpu_code(8, 6),
            "this build has no code for compute capability 8.6; build it with "
            "-DLAB_CUDA_ARCHITECTURES=86");
  EXPECT_EQ(no_gpu_code(7, 5),
            "the lab's kernels need compute capability 8.0 or later; the GPU has 7.5");
}

}  // namespace
}  // namespace lab
