#include "compute/gpu/gpu_failures.h"

#include <gtest/gtest.h>

#include <string>

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
            "this build has no code for compute capability 8.6; add 86 to LAB_CUDA_ARCHITECTURES "
            "and build again");
  EXPECT_EQ(no_gpu_code(9, 0),
            "this build has no code for compute capability 9.0; add 90a-real to "
            "LAB_CUDA_ARCHITECTURES and build again")
      << "its wgmma kernels are compiled for no other GPU";
  EXPECT_EQ(unusable_ptx(12, 0),
            "the driver is too old to compile this build's portable code (PTX) for compute "
            "capability 12.0; update the driver, or add 120a-real to LAB_CUDA_ARCHITECTURES and "
            "build again");
  EXPECT_EQ(no_gpu_code(7, 5),
            "the lab's kernels need compute capability 8.0 or later; the GPU has 7.5");
}

TEST(SelectGpus, AnUnreadableGpuDoesNotHideTheOthers) {
  const auto read = [](int ordinal, GpuProperties& facts) {
    facts.pci_bus_id = "0000:0" + std::to_string(ordinal) + ":00.0";
    if (ordinal == 1) throw Error(Errc::Cuda, "its properties cannot be read");
    facts.name = ordinal == 2 ? "Old GPU" : "New GPU";
    facts.compute_major = ordinal == 2 ? 7 : 9;
  };
  const GpuSelection selection = select_gpus(4, "90a-real", read);
  ASSERT_EQ(selection.usable.size(), 2U);
  EXPECT_EQ(selection.usable[0].ordinal, 0);
  EXPECT_EQ(selection.usable[1].ordinal, 3);
  EXPECT_EQ(selection.usable[1].facts.name, "New GPU");
  ASSERT_EQ(selection.refused.size(), 2U);
  EXPECT_EQ(selection.refused[0].facts.name, "CUDA device 1");
  EXPECT_EQ(selection.refused[0].facts.pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(selection.refused[0].reason, "its properties cannot be read");
  EXPECT_EQ(selection.refused[1].facts.name, "Old GPU");
}

TEST(DriverTooOld, NamesBothDriversAndTheWayOut) {
  EXPECT_EQ(
      driver_too_old(12020, 13000, "535.104.05"),
      "NVIDIA driver 535.104.05 is too old: it supports CUDA 12.2, and this program needs CUDA "
      "13.0, which needs driver 580 or later; install a newer driver, or build the lab with "
      "CUDA 12");
  EXPECT_EQ(
      driver_too_old(11080, 12090, ""),
      "the NVIDIA driver is too old: it supports CUDA 11.8, and this program needs CUDA 12.0, "
      "which needs driver 525 or later; install a newer driver");
}

}  // namespace
}  // namespace lab
