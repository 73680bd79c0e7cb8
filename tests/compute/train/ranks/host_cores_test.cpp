#include "compute/train/ranks/host_cores.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

using Sets = std::vector<std::vector<int>>;

const std::vector<CpuCore> kFourCores = {
    {0, {0, 4}, 0, 0}, {1, {1, 5}, 0, 0}, {2, {2, 6}, 0, 0}, {3, {3, 7}, 0, 0}};

TEST(HostCores, KeepsTheLaunchersBinding) {
  const Sets bound = {{0, 4}, {3, 7}};
  EXPECT_EQ(processors_of(0, bound, kFourCores), bound[0]);
  EXPECT_EQ(processors_of(1, bound, kFourCores), bound[1]);
}

TEST(HostCores, UnboundRanksDivideTheCores) {
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(processors_of(0, {all, all}, kFourCores), (std::vector<int>{0, 1, 4, 5}));
  EXPECT_EQ(processors_of(1, {all, all}, kFourCores), (std::vector<int>{2, 3, 6, 7}));
  EXPECT_EQ(processors_of(2, {all, all, all}, kFourCores), (std::vector<int>{2, 3, 6, 7}));
}

TEST(HostCores, OverlappingSetsAreDivided) {
  EXPECT_EQ(processors_of(1, {{0, 1, 2}, {2, 3}}, kFourCores), (std::vector<int>{2, 3, 6, 7}));
}

TEST(HostCores, MoreRanksThanCoresShareCores) {
  const Sets all(8, {0, 1, 2, 3});
  std::vector<int> uses(8);
  for (int r = 0; r < 8; ++r) {
    const auto own = processors_of(r, all, kFourCores);
    ASSERT_EQ(own.size(), 2u);  // one core
    ++uses[static_cast<std::size_t>(own[0])];
  }
  EXPECT_EQ(uses, (std::vector<int>{2, 2, 2, 2, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace lab
