#include "compute/kernels/gemm/cache_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace lab {
namespace {

TEST(CacheBlocks, FitTheCachesAndTheTiles) {
  for (const CacheSizes& sizes : {CacheSizes{}, CacheSizes{48 << 10, 1 << 20, 32 << 20},
                                  CacheSizes{8 << 10, 64 << 10, 64 << 10}}) {
    const CacheBlocks b = cache_blocks(sizes, 300, 12, 32);
    EXPECT_GT(b.mc, 0);
    EXPECT_EQ(b.mc % 12, 0);
    EXPECT_GT(b.nc, 0);
    EXPECT_EQ(b.nc % 32, 0);
  }
  EXPECT_EQ(even_piece(0, 256, 8), 0);
  EXPECT_EQ(even_piece(300, 256, 1), 150);
  EXPECT_EQ(even_piece(300, 256, 8), 152);
  EXPECT_GT(cache_sizes().l1_bytes, 0);
}

struct Cache {
  int level;
  std::string type, size, sharing;
};

void describe_core(const std::filesystem::path& cpus, const std::string& name,
                   const std::string& siblings, const std::vector<Cache>& caches) {
  const auto write = [&](const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((cpus / name / file).parent_path());
    std::ofstream(cpus / name / file) << text << '\n';
  };
  write("topology/thread_siblings", siblings);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const std::filesystem::path cache = "cache/index" + std::to_string(i);
    write(cache / "level", std::to_string(caches[i].level));
    write(cache / "type", caches[i].type);
    write(cache / "size", caches[i].size);
    write(cache / "shared_cpu_map", caches[i].sharing);
  }
}

// A performance core with two threads, and one of four efficiency cores that share L2.
TEST(CacheSizes, AreTheSmallestOfAnyCore) {
  const test::TempDir dir;
  describe_core(dir.path(), "cpu0", "00000000,00000003",
                {{1, "Data", "48K", "00000000,00000003"},
                 {1, "Instruction", "16K", "00000000,00000003"},
                 {2, "Unified", "2048K", "00000000,00000003"},
                 {3, "Unified", "24M", "00000000,0000ffff"}});
  describe_core(dir.path(), "cpu12", "00001000",
                {{1, "Data", "64K", "00001000"}, {2, "Unified", "4096K", "0000f000"}});
  const CacheSizes both = read_cache_sizes(dir.path().string());
  EXPECT_EQ(both.l1_bytes, 48 << 10);
  EXPECT_EQ(both.l2_bytes, 1 << 20);
  EXPECT_EQ(both.l3_bytes, 24 << 20);
}

TEST(CacheSizes, HaveDefaultsWhereNothingIsReported) {
  const test::TempDir dir;
  const CacheSizes none = read_cache_sizes((dir.path() / "none").string());
  EXPECT_EQ(none.l1_bytes, CacheSizes{}.l1_bytes);
  EXPECT_EQ(none.l2_bytes, CacheSizes{}.l2_bytes);
  EXPECT_EQ(none.l3_bytes, CacheSizes{}.l2_bytes);
}

}  // namespace
}  // namespace lab
