// The bodies of the ladder's kernels on the CPU, under the emulator: every barrier, every index and
// every edge. Small tilings of the same bodies cover the shapes; the launched ones run once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/gpu/cuda/matmul/ladder.h"
#include "compute/gpu/cuda/matmul/r00_naive.cuh"
#include "compute/gpu/cuda/matmul/r01_coalesced.cuh"
#include "compute/gpu/cuda/matmul/r02_shared.cuh"
#include "compute/gpu/cuda/matmul/r03_column.cuh"
#include "compute/gpu/cuda/matmul/r04_square.cuh"
#include "compute/gpu/cuda/matmul/r05_vector.cuh"
#include "compute/gpu/cuda/matmul/r06_warp.cuh"
#include "compute/gpu/cuda/matmul/r07_async.cuh"
#include "compute/gpu/cuda/matmul/r08_tf32.cuh"
#include "compute/gpu/cuda/matmul/r09_bf16.cuh"
#include "tests/compute/gpu/cuda/matmul/emulated.h"
#include "tests/support/simt/launch.h"

namespace lab::test {
namespace {

using namespace cuda_matmul;

constexpr Tiling kSmallShared{.m = 8, .n = 8, .k = 8, .stages = 1};
constexpr Tiling kSmallColumn{.m = 16, .n = 8, .k = 4, .thread_m = 4, .stages = 1};
constexpr Tiling kSmallSquare{.m = 16, .n = 16, .k = 4, .thread_m = 4, .thread_n = 4, .stages = 1};
constexpr Tiling kSmallVector{
    .m = 16, .n = 16, .k = 4, .thread_m = 4, .thread_n = 4, .stages = 1, .pad = 4};
constexpr Tiling kSmallWarp{
    .m = 32, .n = 32, .k = 8, .thread_m = 4, .thread_n = 4, .stages = 1, .pad = 4};
constexpr Tiling kSmallAsync{.m = 32, .n = 32, .k = 16, .thread_m = 4, .thread_n = 4, .stages = 3};
constexpr Tiling kSmallTf32{.m = 32, .n = 32, .k = 16, .thread_m = 2, .thread_n = 8, .stages = 3};
constexpr Tiling kSmallBf16{
    .m = 32, .n = 64, .k = 32, .thread_m = 2, .thread_n = 8, .stages = 3, .element_bytes = 2};

template <class Param>
std::string name_of(const ::testing::TestParamInfo<Param>& info) {
  return info.param.name;
}

const std::array kSmallKernels = {
    Kernel<float>{"naive", kNaiveTiling, false, false, naive_body<kNaiveTiling>},
    Kernel<float>{"coalesced", kCoalescedTiling, false, false, coalesced_body<kCoalescedTiling>},
    Kernel<float>{"shared", kSmallShared, false, false, shared_body<kSmallShared>},
    Kernel<float>{"column", kSmallColumn, false, false, column_body<kSmallColumn>},
    Kernel<float>{"square", kSmallSquare, false, false, square_body<kSmallSquare>},
    Kernel<float>{"vector", kSmallVector, false, true, vector_body<kSmallVector, true>},
    Kernel<float>{"vector_any", kSmallVector, false, false, vector_body<kSmallVector, false>},
    Kernel<float>{"warp", kSmallWarp, false, true, warp_body<kSmallWarp, true>},
    Kernel<float>{"warp_any", kSmallWarp, false, false, warp_body<kSmallWarp, false>},
    Kernel<float>{"async", kSmallAsync, true, true, async_body<kSmallAsync, true>},
    Kernel<float>{"async_any", kSmallAsync, true, false, async_body<kSmallAsync, false>},
    Kernel<float>{"mma_tf32", kSmallTf32, true, true, tf32_body<kSmallTf32, true>},
    Kernel<float>{"mma_tf32_any", kSmallTf32, true, false, tf32_body<kSmallTf32, false>},
};
const std::array kLaunchedKernels = {
    Kernel<float>{"shared", kSharedTiling, false, false, shared_body<kSharedTiling>},
    Kernel<float>{"column", kColumnTiling, false, false, column_body<kColumnTiling>},
    Kernel<float>{"square", kSquareTiling, false, false, square_body<kSquareTiling>},
    Kernel<float>{"vector", kVectorTiling, false, true, vector_body<kVectorTiling, true>},
    Kernel<float>{"warp", kWarpTiling, false, true, warp_body<kWarpTiling, true>},
    Kernel<float>{"async", kAsyncTiling, true, true, async_body<kAsyncTiling, true>},
    Kernel<float>{"mma_tf32", kTf32Tiling, true, true, tf32_body<kTf32Tiling, true>},
};
const std::array kBf16Kernels = {
    Kernel<std::uint16_t>{"mma_bf16", kSmallBf16, true, true, bf16_body<kSmallBf16, true>},
    Kernel<std::uint16_t>{"mma_bf16_any", kSmallBf16, true, false, bf16_body<kSmallBf16, false>},
};
const Kernel<std::uint16_t> kLaunchedBf16{"mma_bf16", kBf16Tiling, true, true,
                                          bf16_body<kBf16Tiling, true>};

template <class T>
void expect_exact(const Kernel<T>& kernel, std::int64_t gap) {
  for (const Mnk& shape : kRaggedShapes) {
    SCOPED_TRACE(to_string(shape));
    const auto in = make_factors<T>(shape, gap, Values::SmallIntegers);
    if (!takes(kernel, in)) continue;
    EXPECT_TRUE(within(in, run(kernel, in), 0));
  }
}

template <class T>
void expect_within(const Kernel<T>& kernel, const Mnk& shape, double bound) {
  const auto in = make_factors<T>(shape, 0, Values::Uniform);
  ASSERT_TRUE(takes(kernel, in));
  EXPECT_TRUE(within(in, run(kernel, in), bound));
}

template <class T>
void expect_order_does_not_matter(const Kernel<T>& kernel) {
  const auto in = make_factors<T>({37, 40, 80}, 0, Values::Uniform);
  ASSERT_TRUE(takes(kernel, in));
  EXPECT_EQ(run(kernel, in), run(kernel, in, {.last_thread_first = true}));
}

double bound_of_kernel(const Kernel<float>& kernel, std::int64_t terms) {
  const bool tf32 = std::string_view(kernel.name).starts_with("mma_tf32");
  return bound_of(tf32 ? Precision::TF32 : Precision::F32, terms);
}

class SmallKernel : public ::testing::TestWithParam<Kernel<float>> {};

TEST_P(SmallKernel, IsExactOnSmallIntegers) {
  expect_exact(GetParam(), 0);
}

TEST_P(SmallKernel, StaysWithinItsRows) {
  expect_exact(GetParam(), 8);
}

TEST_P(SmallKernel, KeepsTheBoundOnRandomNumbers) {
  expect_within(GetParam(), {35, 44, 132}, bound_of_kernel(GetParam(), 132));
}

TEST_P(SmallKernel, DoesNotDependOnTheOrderOfThreads) {
  expect_order_does_not_matter(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ladder, SmallKernel, ::testing::ValuesIn(kSmallKernels),
                         name_of<Kernel<float>>);

class LaunchedKernel : public ::testing::TestWithParam<Kernel<float>> {};

TEST_P(LaunchedKernel, KeepsTheBoundPastATileEachWay) {
  const Tiling& tiling = GetParam().tiling;
  const std::int64_t terms = tiling.k + 4;
  expect_within(GetParam(), {tiling.m + 1, tiling.n + 4, terms},
                bound_of_kernel(GetParam(), terms));
}

INSTANTIATE_TEST_SUITE_P(Ladder, LaunchedKernel, ::testing::ValuesIn(kLaunchedKernels),
                         name_of<Kernel<float>>);

class Bf16Kernel : public ::testing::TestWithParam<Kernel<std::uint16_t>> {};

TEST_P(Bf16Kernel, IsExactOnSmallIntegers) {
  expect_exact(GetParam(), 0);
}

TEST_P(Bf16Kernel, StaysWithinItsRows) {
  expect_exact(GetParam(), 8);
}

TEST_P(Bf16Kernel, KeepsTheBoundOnRandomNumbers) {
  expect_within(GetParam(), {35, 72, 136}, bound_of(Precision::BF16, 136));
}

TEST_P(Bf16Kernel, DoesNotDependOnTheOrderOfThreads) {
  expect_order_does_not_matter(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ladder, Bf16Kernel, ::testing::ValuesIn(kBf16Kernels),
                         name_of<Kernel<std::uint16_t>>);

TEST(LaunchedBf16Kernel, KeepsTheBoundPastATileEachWay) {
  expect_within(kLaunchedBf16, {kBf16Tiling.m + 1, kBf16Tiling.n + 8, 40},
                bound_of(Precision::BF16, 40));
}

TEST(EmulatedLadder, HasEveryRungThatIsNotOfOneGpuAlone) {
  std::set<std::string_view> small, launched = {kLaunchedBf16.name};
  for (const auto& kernel : kSmallKernels) small.insert(kernel.name);
  for (const auto& kernel : kBf16Kernels) small.insert(kernel.name);
  for (const auto& kernel : kLaunchedKernels) launched.insert(kernel.name);
  for (const CudaRung& rung : cuda_ladder()) {
    if (rung.no_later) continue;
    EXPECT_TRUE(small.contains(rung.name)) << rung.name;
    // One element a thread: the small tiling is the launched one.
    EXPECT_TRUE(rung.tiling.stages == 0 || launched.contains(rung.name)) << rung.name;
  }
}

constexpr Tiling kAlone{.m = 8, .n = 16, .k = 8};
constexpr Tiling kPaired = kAlone.with_cluster(2);

// The tiles of C by all of the grid's blocks, in order; fails for one outside of a cluster's tiles.
template <Tiling kTile>
std::vector<std::pair<int, int>> tiles_of_grid(int blocks, int m, int n) {
  std::vector<std::pair<int, int>> tiles;
  std::vector<int> counts(static_cast<std::size_t>(blocks));
  simt::launch({.grid = {blocks}, .block = {1}}, [&] {
    const int block = simt::block_idx().x;
    for_my_tiles<kTile, 4>(m, n, block % kTile.cluster, [&](const TileOrigin& tile) {
      ++counts[static_cast<std::size_t>(block)];
      EXPECT_LT(tile.row - block % kTile.cluster * kTile.m, m);
      if (tile.row < m) tiles.emplace_back(tile.row, tile.col);
    });
  });
  for (std::size_t i = 0; i < counts.size(); ++i) {  // else one would wait for ever for the other
    EXPECT_EQ(counts[i], counts[i / kTile.cluster * kTile.cluster]);
  }
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

TEST(Raster, BlocksThatStayTakeEachTileOnceAloneAndInClusters) {
  for (const auto& [m, n] : {std::pair{1, 1}, {8, 16}, {9, 17}, {40, 48}, {73, 33}, {104, 160}}) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    std::vector<std::pair<int, int>> want;
    for (int row = 0; row < m; row += kAlone.m) {
      for (int col = 0; col < n; col += kAlone.n) want.emplace_back(row, col);
    }
    for (const int blocks : {2, 6, 1000}) {
      EXPECT_EQ(tiles_of_grid<kAlone>(blocks, m, n), want);
      EXPECT_EQ(tiles_of_grid<kPaired>(blocks, m, n), want);
    }
  }
}

}  // namespace
}  // namespace lab::test
