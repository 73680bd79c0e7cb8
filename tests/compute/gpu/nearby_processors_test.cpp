#include "compute/gpu/nearby_processors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/machine/cpu_topology.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

TEST(NearbyProcessors, ParsesTheKernelsLists) {
  EXPECT_EQ(parse_processor_list("0-3,8,10-11"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_processor_list("5"), std::vector<int>{5});
  for (const char* no_list : {"", "x", "1-", "-1", "1,,2", "0-99999", "1;2"}) {
    EXPECT_TRUE(parse_processor_list(no_list).empty()) << no_list;
  }
}

// The affinity of a thread near a GPU with this list.
std::vector<int> affinity_near(const std::string& list) {
  const test::TempDir root;
  const auto folder = root.path() / "sys/bus/pci/devices/0000:01:00.0";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "local_cpulist") << list << '\n';
  std::vector<int> inside;
  run_near_gpu(
      "0000:01:00.0", [&] { inside = thread_affinity(); }, root.path().string());
  return inside;
}

TEST(NearbyProcessors, OfThoseThatTheProcessMayUse) {
  const std::vector<int> all = process_affinity();
  ASSERT_FALSE(all.empty());
  const int last = all.back();
  EXPECT_EQ(affinity_near(std::to_string(last)), std::vector<int>{last});
  EXPECT_EQ(affinity_near(std::to_string(last) + "," + std::to_string(last + 1)),
            std::vector<int>{last});
  EXPECT_EQ(thread_affinity(), all) << "of the calling thread";
}

TEST(NearbyProcessors, AreAllWithoutAUsableList) {
  const std::vector<int> all = thread_affinity();
  EXPECT_EQ(affinity_near("unknown"), all);
  EXPECT_EQ(affinity_near(std::to_string(all.back() + 1)), all);
}

TEST(NearbyProcessors, PassErrorsOn) {
  EXPECT_THROW(run_near_gpu("none", [] { throw std::runtime_error("full"); }), std::runtime_error);
}

}  // namespace
}  // namespace lab
