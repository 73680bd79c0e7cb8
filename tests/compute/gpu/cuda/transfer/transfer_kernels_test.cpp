#include "compute/gpu/cuda/transfer/transfer_kernels.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compute/experiments/transfers/gpu_case.h"
#include "compute/gpu/emulator/launch.h"
#include "tests/support/element_counts.h"

namespace lab {
namespace {

using namespace cuda;
using simt::GlobalArray;

constexpr int kGrids[] = {1, 3};
constexpr std::uint32_t kSeed = 5;

std::vector<std::uint32_t> pattern(std::int64_t words, std::uint32_t seed) {
  std::vector<std::uint32_t> values;
  for (std::int64_t i = 0; i < words; ++i) values.push_back(pattern_word(i, seed));
  return values;
}

// Calls test(words, blocks).
template <typename Test>
void for_every_shape(const Test& test) {
  for (const std::int64_t words : test::counts_with({0, 70'000})) {
    for (const int blocks : kGrids) {
      SCOPED_TRACE(::testing::Message() << words << " words, " << blocks << " blocks");
      test(words, blocks);
    }
  }
}

TEST(TransferGate, PassesWhenOpen) {
  GlobalArray<std::uint32_t> timed_out("gave up", 1);
  timed_out.fill(0);
  int looks = 0;
  simt::launch({.grid = {1}, .block = {1}, .arrays = {timed_out}}, [&] {
    gate_body({.timed_out = timed_out.data(), .max_polls = 10}, [&] { return ++looks == 3; });
  });
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(timed_out[0], 0U);
}

TEST(TransferGate, ReportsTimeout) {
  GlobalArray<std::uint32_t> timed_out("gave up", 1);
  timed_out.fill(0);
  int looks = 0;
  simt::launch({.grid = {1}, .block = {1}, .arrays = {timed_out}}, [&] {
    gate_body({.timed_out = timed_out.data(), .max_polls = 10}, [&] { return ++looks < 0; });
  });
  EXPECT_EQ(looks, 10);
  EXPECT_EQ(timed_out[0], 1U);
}

TEST(TransferCopy, CopiesEveryWordOnce) {
  for_every_shape([](std::int64_t words, int blocks) {
    const auto n = static_cast<std::size_t>(words);
    const std::vector<std::uint32_t> values = pattern(words, kSeed);
    GlobalArray<std::uint32_t> from("from", values), to("to", n);
    const WordCopyArgs args{from.data(), to.data(), words};
    simt::launch({.grid = {blocks}, .block = {kTransferThreads}, .arrays = {from.input(), to}},
                 [&] { copy_body(args); });
    EXPECT_EQ(std::vector(to.values().begin(), to.values().end()), values);
  });
}

TEST(TransferFill, MatchesTheHostPattern) {
  for_every_shape([](std::int64_t words, int blocks) {
    GlobalArray<std::uint32_t> to("to", static_cast<std::size_t>(words));
    const PatternArgs args{to.data(), words, kSeed};
    simt::launch({.grid = {blocks}, .block = {kTransferThreads}, .arrays = {to}},
                 [&] { fill_body(args); });
    EXPECT_EQ(std::vector(to.values().begin(), to.values().end()), pattern(words, kSeed));
  });
}

TEST(TransferMismatches, AccumulatesMismatches) {
  for_every_shape([](std::int64_t words, int blocks) {
    const std::vector<std::uint32_t> values = pattern(words, kSeed);
    GlobalArray<std::uint32_t> at("at", values);
    GlobalArray<std::uint64_t> count("count", 1);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < at.size(); i += 13) {
      at[i] ^= 1U << (i % 32);
      ++wrong;
    }
    count[0] = 7;
    const MismatchArgs args{at.data(), words, kSeed, count.data()};
    simt::launch({.grid = {blocks}, .block = {kTransferThreads}, .arrays = {at.input(), count}},
                 [&] { mismatches_body(args); });
    EXPECT_EQ(count[0], 7 + wrong);
  });
}

TEST(TransferMismatches, PatternDependsOnSeed) {
  constexpr std::int64_t kWords = 1000;
  const std::vector<std::uint32_t> values = pattern(kWords, kSeed + 1);
  GlobalArray<std::uint32_t> at("at", values);
  GlobalArray<std::uint64_t> count("count", 1);
  count[0] = 0;
  const MismatchArgs args{at.data(), kWords, kSeed, count.data()};
  simt::launch({.grid = {2}, .block = {kTransferThreads}, .arrays = {at.input(), count}},
               [&] { mismatches_body(args); });
  EXPECT_GT(count[0], 990U);
}

TEST(TransferChase, ContinuesFromItsLastNode) {
  constexpr std::int64_t kNodes = 17;
  const std::vector<std::uint32_t> cycle = random_cycle(kNodes, {});
  GlobalArray<std::uint32_t> next("next", cycle), position("position", 1);
  position[0] = 0;
  std::uint32_t expected = 0;
  for (const std::int64_t hops : {0, 1, 5, 40}) {
    const ChaseArgs args{next.data(), position.data(), hops};
    simt::launch({.grid = {1}, .block = {1}, .arrays = {next.input(), position}},
                 [&] { chase_body(args); });
    for (std::int64_t hop = 0; hop < hops; ++hop) expected = cycle[expected];
    EXPECT_EQ(position[0], expected);
  }
}

TEST(TransferChase, CycleVisitsEveryNodeInRandomOrder) {
  for (const std::int64_t nodes : {2, 3, 1000}) {
    const std::vector<std::uint32_t> cycle = random_cycle(nodes, {});
    ASSERT_EQ(cycle.size(), static_cast<std::size_t>(nodes * kChaseStride));
    std::uint32_t at = 0;
    std::int64_t visited = 0, neighbours = 0;
    do {
      neighbours += cycle[at] == at + kChaseStride ? 1 : 0;
      at = cycle[at];
      ++visited;
    } while (at != 0 && visited <= nodes);
    EXPECT_EQ(visited, nodes);
    if (nodes == 1000) {
      EXPECT_LT(neighbours, 20);
    }
  }
}

TEST(TransferWork, ComputesTheSeries) {
  GlobalArray<float> sink("sink", 2 * kTransferThreads);
  for (const std::int64_t rounds : {0, 1, 2}) {
    const WorkArgs args{sink.data(), rounds};
    simt::launch({.grid = {2}, .block = {kTransferThreads}, .arrays = {sink}},
                 [&] { work_body(args); });
    for (std::size_t i = 0; i < sink.size(); ++i) {
      auto x = static_cast<float>(i % kTransferThreads);
      for (std::int64_t step = 0; step < rounds * kWorkSteps; ++step) x = std::fma(x, 0.5F, 1.0F);
      ASSERT_EQ(sink[i], x);
    }
  }
}

}  // namespace
}  // namespace lab
