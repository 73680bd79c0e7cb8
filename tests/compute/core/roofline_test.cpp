#include "compute/core/events/roofline.h"

#include <gtest/gtest.h>

#include "compute/core/events/event.h"
#include "compute/core/units.h"

namespace lab {
namespace {

CeilingsMeasured ceilings() {
  CeilingsMeasured c;
  c.threads = 2;
  c.compute = {{.name = "FMA f32", .threads = 1, .gflops = 250},
               {.name = "FMA f32", .threads = 2, .gflops = 500},
               {.name = "FMA bf16", .dtype = Precision::BF16, .threads = 2, .gflops = 1000}};
  c.bandwidth = {{.name = "L1", .cache_bytes = 96 * kKiB, .gb_per_s = 1000},
                 {.name = "L2", .cache_bytes = 2 * kMiB, .gb_per_s = 400},
                 {.name = "memory", .gb_per_s = 40}};
  return c;
}

MatmulSample product(std::int64_t m, std::int64_t n, std::int64_t k,
                     Precision dtype = Precision::F32) {
  MatmulSample s;
  s.m = m;
  s.n = n;
  s.k = k;
  s.dtype = dtype;
  return s;
}

TEST(Roofline, CountsEachMatrixOnce) {
  EXPECT_DOUBLE_EQ(compulsory_bytes(product(2, 3, 5)), 4 * (10 + 15 + 6));
  EXPECT_DOUBLE_EQ(compulsory_bytes(product(2, 3, 5, Precision::BF16)), 2 * (10 + 15) + 4 * 6);
  EXPECT_DOUBLE_EQ(arithmetic_intensity(product(2, 3, 5)), 60.0 / 124);
  EXPECT_DOUBLE_EQ(arithmetic_intensity(product(96, 96, 96)), 16);
  EXPECT_EQ(arithmetic_intensity(product(0, 0, 0)), 0);
}

TEST(Roofline, UsesTheNearestLevelThatHoldsTheMatrices) {
  const CeilingsMeasured c = ceilings();
  EXPECT_EQ(roof_over(c, product(64, 64, 64), CacheState::Warm).level->name, "L1");
  EXPECT_EQ(roof_over(c, product(256, 256, 256), CacheState::Warm).level->name, "L2");
  EXPECT_EQ(roof_over(c, product(1024, 1024, 1024), CacheState::Warm).level->name, "memory");
  EXPECT_EQ(roof_over(c, product(64, 64, 64), CacheState::Cold).level->name, "memory");
}

TEST(Roofline, FindsTheLevelThatHoldsSomeBytes) {
  const CeilingsMeasured c = ceilings();
  EXPECT_EQ(level_holding(c.bandwidth, 96.0 * kKiB)->name, "L1");
  EXPECT_EQ(level_holding(c.bandwidth, 96.0 * kKiB + 1)->name, "L2");
  EXPECT_EQ(level_holding(c.bandwidth, 3.0 * kMiB)->name, "memory");
  EXPECT_EQ(level_holding({}, 1), nullptr);
}

TEST(Roofline, RoofIsTheLowerOfComputeAndMemory) {
  const CeilingsMeasured c = ceilings();
  const Roof large = roof_over(c, product(1024, 1024, 1024), CacheState::Warm);
  EXPECT_FALSE(large.by_memory);
  EXPECT_EQ(large.gflops, 500);
  EXPECT_EQ(large.compute->threads, 2);
  // 2/3 FLOP per byte of memory traffic.
  const Roof small = roof_over(c, product(4, 4, 4), CacheState::Cold);
  EXPECT_TRUE(small.by_memory);
  EXPECT_NEAR(small.gflops, 40 * 2.0 / 3, 1e-9);
}

TEST(Roofline, PeakDependsOnTheType) {
  const CeilingsMeasured c = ceilings();
  EXPECT_EQ(highest_compute(c, Precision::F32)->gflops, 500);
  EXPECT_EQ(highest_compute(c, Precision::BF16)->gflops, 1000);
  EXPECT_EQ(highest_compute(c, Precision::TF32)->gflops, 1000) << "no separate peak: the highest "
                                                                  "counts";
  EXPECT_EQ(roof_over(c, product(512, 512, 512, Precision::BF16), CacheState::Warm).gflops, 1000);
}

TEST(Roofline, RidgeIsWhereBothLimitsMeet) {
  const CeilingsMeasured c = ceilings();
  EXPECT_DOUBLE_EQ(ridge(c, c.bandwidth[2], Precision::F32), 12.5);
  EXPECT_DOUBLE_EQ(ridge(c, c.bandwidth[2], Precision::BF16), 25);
  EXPECT_EQ(ridge({}, c.bandwidth[2], Precision::F32), 0);
}

TEST(Roofline, IgnoresUnmeasuredLimits) {
  const Roof none = roof_over({}, product(64, 64, 64), CacheState::Warm);
  EXPECT_EQ(none.gflops, 0);
  EXPECT_EQ(none.compute, nullptr);
  EXPECT_EQ(none.level, nullptr);
  CeilingsMeasured c = ceilings();
  c.bandwidth.clear();
  EXPECT_EQ(roof_over(c, product(4, 4, 4), CacheState::Cold).gflops, 500);
  c = ceilings();
  c.compute.clear();
  const Roof memory = roof_over(c, product(1024, 1024, 1024), CacheState::Warm);
  EXPECT_TRUE(memory.by_memory);
  EXPECT_EQ(memory.compute, nullptr);
}

TEST(Ceilings, NameTheThreads) {
  EXPECT_EQ(workers_text(0), "the whole GPU");
  EXPECT_EQ(workers_text(1), "1 thread");
  EXPECT_EQ(workers_text(2), "2 threads");
}

}  // namespace
}  // namespace lab
