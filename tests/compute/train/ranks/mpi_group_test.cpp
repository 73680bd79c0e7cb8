// Calls are collective: every rank runs every case in the same order.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "compute/core/backoff.h"
#include "tests/compute/train/ranks/ranks_main.h"

namespace lab::test {
namespace {

void finish(PendingSum& sum) {
  Backoff backoff;
  while (!sum.test()) backoff.pause();
}

// Values whose sum depends on the order of addition.
float contribution(int rank, std::size_t i) {
  return std::sin(static_cast<float>(i % 1000) * 0.37f + static_cast<float>(rank)) *
         (rank % 2 == 0 ? 1.0f : 1e-3f);
}

std::vector<float> contributions(int rank, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = contribution(rank, i);
  return values;
}

float ordered_sum(std::size_t i) {
  float sum = contribution(0, i);
  for (int r = 1; r < ranks().size(); ++r) sum += contribution(r, i);
  return sum;
}

TEST(MpiGroup, ReportsRanksAndHosts) {
  EXPECT_GT(ranks().size(), 1);
  EXPECT_LT(ranks().rank(), ranks().size());
  ASSERT_EQ(ranks().hosts().size(), static_cast<std::size_t>(ranks().size()));
  for (const std::string& host : ranks().hosts()) EXPECT_EQ(host, ranks().hosts()[0]);
  EXPECT_EQ(session().host_ranks().size(), ranks().hosts().size());
}

TEST(MpiGroup, BroadcastsFromEveryRoot) {
  for (int root = 0; root < ranks().size(); ++root) {
    for (const std::size_t n : {0u, 1u, 1000u, 700'001u}) {
      SCOPED_TRACE(testing::Message() << n << " floats from " << root);
      std::vector<float> values = contributions(ranks().rank(), n);
      ranks().broadcast(std::as_writable_bytes(std::span(values)), root, {});
      EXPECT_EQ(values, contributions(root, n));
    }
  }
}

TEST(MpiGroup, GathersDifferentSizes) {
  for (const std::size_t unit : {0u, 1u, 3000u}) {
    const auto mine =
        contributions(ranks().rank(), unit * static_cast<std::size_t>(ranks().rank()));
    const auto all = ranks().all_gather(std::as_bytes(std::span(mine)), {});
    ASSERT_EQ(all.size(), ranks().hosts().size());
    for (int r = 0; r < ranks().size(); ++r) {
      const auto theirs = contributions(r, unit * static_cast<std::size_t>(r));
      const auto& bytes = all[static_cast<std::size_t>(r)];
      ASSERT_EQ(bytes.size(), theirs.size() * sizeof(float));
      EXPECT_TRUE(theirs.empty() || std::memcmp(bytes.data(), theirs.data(), bytes.size()) == 0);
    }
  }
}

TEST(MpiGroup, SumsInRankOrderForEverySize) {
  for (const std::size_t n : {0u, 1u, 2u, 7u, 1023u, 262'145u, 1'500'003u}) {
    SCOPED_TRACE(n);
    std::vector<float> values = contributions(ranks().rank(), n);
    finish(*ranks().start_sum(values));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(values[i], ordered_sum(i)) << i;
  }
}

TEST(MpiGroup, RunsSeveralSumsAtOnce) {
  std::vector<std::vector<float>> values;
  std::vector<std::unique_ptr<PendingSum>> sums;
  for (const std::size_t n : {900'000u, 3u, 400'000u}) {
    values.push_back(contributions(ranks().rank(), n));
    sums.push_back(ranks().start_sum(values.back()));
  }
  finish(*sums[2]);  // completing the last sum advances all of them
  finish(*sums[0]);
  finish(*sums[1]);
  for (const auto& sum : values) {
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], ordered_sum(i));
  }
}

}  // namespace
}  // namespace lab::test
