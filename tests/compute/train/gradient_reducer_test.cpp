#include "compute/train/data_parallel/gradient_reducer.h"

#include <gtest/gtest.h>

#include <utility>

namespace lab {
namespace {

// Plans buckets for consecutive parameters of these sizes in floats.
std::vector<GradientBucket> plan(const std::vector<std::int64_t>& sizes, std::int64_t bucket_bytes,
                                 std::int64_t last_bytes) {
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t size : sizes) offsets.push_back(offsets.back() + size);
  return plan_buckets(offsets, bucket_bytes, last_bytes);
}

using Range = std::pair<std::size_t, std::size_t>;  // first parameter, count

std::vector<Range> ranges(const std::vector<GradientBucket>& buckets) {
  std::vector<Range> all;
  all.reserve(buckets.size());
  for (const GradientBucket& b : buckets) all.emplace_back(b.first_parameter, b.parameters);
  return all;
}

TEST(GradientBuckets, StartWithTheLastParametersAndEndWithASmallBucket) {
  EXPECT_EQ(ranges(plan({1, 1, 4, 4, 4, 4}, 32, 8)), (std::vector<Range>{{4, 2}, {2, 2}, {0, 2}}));
}

TEST(GradientBuckets, GiveALargeParameterItsOwnBucket) {
  EXPECT_EQ(ranges(plan({1, 100, 1, 1}, 16, 4)), (std::vector<Range>{{2, 2}, {1, 1}, {0, 1}}));
  EXPECT_EQ(ranges(plan({100}, 16, 4)), (std::vector<Range>{{0, 1}}));
}

TEST(GradientBuckets, UseOneBucketForASmallNetwork) {
  EXPECT_EQ(ranges(plan({3, 4, 5}, 1000, 1000)), (std::vector<Range>{{0, 3}}));
}

TEST(GradientBuckets, CoverEveryFloatOnce) {
  for (const std::int64_t bytes : {4, 40, 400, 4000}) {
    const auto buckets = plan({7, 30, 1, 200, 16, 5, 90, 2}, bytes, 50);
    std::int64_t end = 351;
    for (const GradientBucket& b : buckets) {
      EXPECT_EQ(b.end, end);
      EXPECT_LT(b.begin, b.end);
      end = b.begin;
    }
    EXPECT_EQ(end, 0);
  }
  EXPECT_TRUE(plan_buckets({}, 10).empty());
}

}  // namespace
}  // namespace lab
