// Runs the bodies of the ladder's kernels on the CPU, in the emulator: every barrier, index and
// edge. Small tilings of the same bodies cover the shapes; the launched tilings run once. Covers
// all rungs of the ladder except those with exact_capability, which run only on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/gpu/cuda/matmul/rungs/rungs.h"
#include "compute/gpu/emulator/launch.h"
#include "compute/gpu/emulator/memory/global_array.h"
#include "tests/support/matmul_operands.h"

namespace lab::test {
namespace {

using namespace cuda_matmul;

// One kernel of a rung, as launched by the emulator.
struct Kernel {
  std::string name;
  Precision precision;
  Tiling tiling;
  bool aligned;  // accepts only operands that satisfy is_vector_aligned()
  void (*block)(const GpuProduct&);

  std::int64_t piece() const { return 16 / tiling.element_bytes; }  // elements in 16 bytes
};
void PrintTo(const Kernel& kernel, std::ostream* out) {
  *out << kernel.name;
}

template <class Type, Tiling kTile, bool kAligned>
Kernel kernel_of(const char* variant = "") {
  constexpr const CudaRung& kRung = Type::kRung;
  return {std::string(kRung.name) + variant, kRung.precision, kTile,
          kAligned && kRung.operands != Operands::Any, [](const GpuProduct& product) {
            multiply<kTile, kAligned>(Type{}, args_of<ArgsOf<Type>>(product));
          }};
}

std::vector<Kernel> small_kernels() {
  std::vector<Kernel> kernels;
  Ladder::for_each([&](auto type) {
    using Type = decltype(type);
    if constexpr (!Type::kRung.exact_capability) {
      constexpr Tiling kTile = Type::kRung.small;
      static_assert(kTile.m > 1 && kTile.n > 1, "the rung needs a small tiling for the emulator");
      kernels.push_back(kernel_of<Type, kTile, true>());
      if constexpr (Type::kRung.operands == Operands::VectorAlignedOrAny) {
        kernels.push_back(kernel_of<Type, kTile, false>("_any"));
      }
    }
  });
  return kernels;
}

// Excludes rungs without shared memory, whose small tiling is the launched one.
std::vector<Kernel> launched_kernels() {
  std::vector<Kernel> kernels;
  Ladder::for_each([&](auto type) {
    using Type = decltype(type);
    if constexpr (!Type::kRung.exact_capability && Type::kRung.tiling.stages > 0) {
      kernels.push_back(kernel_of<Type, Type::kRung.tiling, true>());
    }
  });
  return kernels;
}

std::string name_of(const ::testing::TestParamInfo<Kernel>& info) {
  return info.param.name;
}

// Whether `kernel` accepts these operands in the layout used by run().
template <class T>
bool takes(const Kernel& kernel, const MatmulOperands<T>& in) {
  const std::int64_t piece = kernel.piece();
  return !kernel.aligned ||
         (in.lda % piece == 0 && in.ldb % piece == 0 && in.ldc % 4 == 0 && in.shape.n % piece == 0);
}

// Returns C, whose leading dimension is `ldc`. Fails the test if the emulator finds a fault or an
// element around C has changed.
template <class T>
std::vector<float> run(const Kernel& kernel, const MatmulOperands<T>& in,
                       bool last_thread_first = false) {
  GuardedC guarded(in.shape, in.ldc);
  simt::GlobalArray<T> a("a", std::span<const T>(in.a)), b("b", std::span<const T>(in.b));
  simt::GlobalArray<float> c("c", std::span<const float>(guarded.memory()));
  const GpuProduct product = product_of(in, a.data(), b.data(), c.data());
  const auto blocks = tiles_of(kernel.tiling, in.shape.m, in.shape.n);
  if (blocks > 0) {
    const int dynamic = kernel.tiling.dynamic_bytes();
    try {
      simt::launch({.grid = {static_cast<int>(blocks)},
                    .block = {kernel.tiling.threads()},
                    .dynamic_shared_bytes = static_cast<std::size_t>(dynamic),
                    .arrays = {a.input(), b.input(), c},
                    .last_thread_first = last_thread_first},
                   [&] { kernel.block(product); });
    } catch (const std::exception& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
  std::copy(c.values().begin(), c.values().end(), guarded.memory().begin());
  return guarded.take();
}

// Calls check(operands) with operands of the kernel's type.
template <class Check>
void with_factors(const Kernel& kernel, const Mnk& shape, std::int64_t gap, Values values,
                  const Check& check) {
  SCOPED_TRACE(to_string(shape));
  if (kernel.precision == Precision::BF16) {
    check(make_operands<std::uint16_t>(shape, gap, values));
  } else {
    check(make_operands<float>(shape, gap, values));
  }
}

void expect_exact(const Kernel& kernel, std::int64_t gap) {
  for (const Mnk& shape : kRaggedShapes) {
    with_factors(kernel, shape, gap, Values::SmallIntegers, [&](const auto& in) {
      if (!takes(kernel, in)) return;
      EXPECT_TRUE(within(in, run(kernel, in), 0));
    });
  }
}

void expect_within_bound(const Kernel& kernel, const Mnk& shape, Values values = Values::Uniform) {
  with_factors(kernel, shape, 0, values, [&](const auto& in) {
    ASSERT_TRUE(takes(kernel, in));
    EXPECT_TRUE(within(in, run(kernel, in), bound_of(kernel.precision, shape.k)));
  });
}

class SmallKernel : public ::testing::TestWithParam<Kernel> {};

TEST_P(SmallKernel, IsExactOnSmallIntegers) {
  expect_exact(GetParam(), 0);
}

TEST_P(SmallKernel, WritesOnlyWithinRows) {
  expect_exact(GetParam(), 8);
}

TEST_P(SmallKernel, StaysWithinErrorBound) {
  const std::int64_t piece = GetParam().piece();
  expect_within_bound(GetParam(), piece == 8 ? Mnk{35, 72, 136} : Mnk{35, 44, 132});
}

TEST_P(SmallKernel, RoundsOperandsToNearest) {
  expect_within_bound(GetParam(), {8, 8, 16}, Values::BetweenTf32);
}

TEST_P(SmallKernel, IsIndependentOfThreadOrder) {
  with_factors(GetParam(), {37, 40, 80}, 0, Values::Uniform, [&](const auto& in) {
    ASSERT_TRUE(takes(GetParam(), in));
    EXPECT_EQ(run(GetParam(), in), run(GetParam(), in, /*last_thread_first=*/true));
  });
}

INSTANTIATE_TEST_SUITE_P(Ladder, SmallKernel, ::testing::ValuesIn(small_kernels()), name_of);

class LaunchedKernel : public ::testing::TestWithParam<Kernel> {};

TEST_P(LaunchedKernel, StaysWithinErrorBoundAcrossTiles) {
  const Tiling& tiling = GetParam().tiling;
  const std::int64_t piece = GetParam().piece();
  expect_within_bound(GetParam(), {tiling.m + 1, tiling.n + piece, tiling.k + piece});
}

INSTANTIATE_TEST_SUITE_P(Ladder, LaunchedKernel, ::testing::ValuesIn(launched_kernels()), name_of);

constexpr Tiling kAlone{.m = 8, .n = 16, .k = 8};
constexpr Tiling kPaired{.m = 8, .n = 16, .k = 8, .cluster = 2};
constexpr Tiling kBeside{.m = 8, .n = 16, .k = 8, .cluster = 2, .beside = true};

// Returns the tiles of C visited by all blocks of the grid, sorted. Fails the test if the first
// tile of a cluster is outside C.
template <Tiling kTile>
std::vector<std::pair<int, int>> tiles_of_grid(int blocks, int m, int n) {
  std::vector<std::pair<int, int>> tiles;
  std::vector<int> counts(static_cast<std::size_t>(blocks));
  simt::launch({.grid = {blocks}, .block = {1}}, [&] {
    const int block = simt::block_idx().x;
    const int rank = block % kTile.cluster;
    for_assigned_tiles<kTile, 32>(m, n, rank, [&](const TileOrigin& tile) {
      ++counts[static_cast<std::size_t>(block)];
      EXPECT_LT(tile.row - (kTile.beside ? 0 : rank * kTile.m), m);
      EXPECT_LT(tile.col - (kTile.beside ? rank * kTile.n : 0), n);
      if (tile.row < m && tile.col < n) tiles.emplace_back(tile.row, tile.col);
    });
  });
  for (std::size_t i = 0; i < counts.size(); ++i) {  // unequal counts would deadlock a cluster
    EXPECT_EQ(counts[i], counts[i / kTile.cluster * kTile.cluster]);
  }
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

TEST(Raster, PersistentBlocksVisitEachTileOnce) {
  for (const auto& [m, n] : {std::pair{1, 1}, {8, 16}, {9, 17}, {40, 48}, {73, 33}, {104, 160}}) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    std::vector<std::pair<int, int>> want;
    for (int row = 0; row < m; row += kAlone.m) {
      for (int col = 0; col < n; col += kAlone.n) want.emplace_back(row, col);
    }
    for (const int blocks : {2, 6, 1000}) {
      EXPECT_EQ(tiles_of_grid<kAlone>(blocks, m, n), want);
      EXPECT_EQ(tiles_of_grid<kPaired>(blocks, m, n), want);
      EXPECT_EQ(tiles_of_grid<kBeside>(blocks, m, n), want);
    }
  }
}

// One store of a lane: 8 bytes of a staged piece.
struct StagedStore {
  int offset;  // bytes
  int row, col;
};

StagedStore staged_store(int warp, int lane, int half, int i) {
  const StagedPlace place = staged_place(warp, lane);
  return {place.offset(half, i), warp * 16 + lane / 4 + 8 * half,
          8 * (place.odd ? i ^ 2 : i) + lane % 4 * 2};
}

TEST(StagedPiece, HoldsEachPairWhereTheCopyEngineExpectsIt) {
  std::vector<int> offsets;
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int half = 0; half < 2; ++half) {
        for (int i = 0; i < 4; ++i) {
          const auto [offset, row, col] = staged_store(warp, lane, half, i);
          EXPECT_EQ(offset, row * 128 + (col / 4 ^ row % 8) * 16 + col % 4 * 4)
              << "row " << row << ", column " << col;
          offsets.push_back(offset);
        }
      }
    }
  }
  std::sort(offsets.begin(), offsets.end());
  ASSERT_EQ(offsets.size(), kCPieceBytes / 8U);
  for (std::size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(offsets[i], 8 * static_cast<int>(i));
}

// A warp's 8-byte stores take two passes over the 32 banks, one for each half of its lanes.
TEST(StagedPiece, StoresMeetInNoBank) {
  for (int pass = 0; pass < 2 * 4 * 2; ++pass) {
    std::set<int> banks;
    for (int lane = pass % 2 * 16; lane < pass % 2 * 16 + 16; ++lane) {
      const int offset = staged_store(0, lane, pass / 8, pass / 2 % 4).offset;
      banks.insert({offset / 4 % 32, offset / 4 % 32 + 1});
    }
    EXPECT_EQ(banks.size(), 32U) << pass;
  }
}

// Where the copy engine has the 4 bytes of this row and column of a box of 32 columns.
int place_in_box(int row, int col) {
  return row * 128 + (col / 4 ^ row % 8) * 16 + col % 4 * 4;
}

// The column of C, of a warp's pair, that is this row of the 16 of C^T that the warp multiplies.
int column_of(int warp, int row) {
  return lane_columns(warp, row % 8 * 4).first() + row / 8;
}

TEST(LaneColumns, AreAllColumnsOfAPairOfWarps) {
  std::set<int> columns;
  for (const int warp : {2, 3}) {
    for (int row = 0; row < 16; ++row) columns.insert(column_of(warp, row));
  }
  EXPECT_EQ(columns.size(), 32U);
  EXPECT_EQ(*columns.begin(), 0);
  EXPECT_EQ(*columns.rbegin(), 31);
}

TEST(LaneColumns, LoadsWhatTheInstructionTakesFromTheLane) {
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int step = 0; step < 4; ++step) {
        for (int i = 0; i < 4; ++i) {
          const auto place = simt::tf32_fragment_a(lane, i);
          const int offset = lane_columns(warp, lane).load_offset(step, i / 2) + i % 2 * 4;
          EXPECT_EQ(offset, place_in_box(8 * step + place.col, column_of(warp, place.row)))
              << "warp " << warp << ", lane " << lane << ", step " << step << ", element " << i;
        }
      }
    }
  }
}

TEST(LaneColumns, StoresEachSumWhereTheCopyEngineExpectsIt) {
  for (int warp = 0; warp < 4; ++warp) {
    for (int lane = 0; lane < 32; ++lane) {
      const LaneColumns columns = lane_columns(warp, lane);
      for (const bool second : {false, true}) {
        const int row = columns.row(second);
        for (const int half : {0, 1}) {
          const auto place = simt::fragment_c(lane, 2 * half + row % 2);
          EXPECT_EQ(place.col, row);
          EXPECT_EQ(columns.store_offset(3, second) + 4 * half,
                    place_in_box(24 + row, column_of(warp, place.row)))
              << "warp " << warp << ", lane " << lane << ", row " << row;
        }
      }
    }
  }
}

// As StagedPiece.StoresMeetInNoBank, for loads too.
TEST(LaneColumns, MeetInNoBank) {
  for (int warp = 0; warp < 4; ++warp) {
    for (const int first : {0, 16}) {
      for (const int half : {0, 1}) {
        std::set<int> loads, stores;
        for (int lane = first; lane < first + 16; ++lane) {
          const int load = lane_columns(warp, lane).load_offset(1, half) / 4 % 32;
          const int store = lane_columns(warp, lane).store_offset(1, half == 1) / 4 % 32;
          loads.insert({load, load + 1});
          stores.insert({store, store + 1});
        }
        EXPECT_EQ(loads.size(), 32U) << warp << " " << first << " " << half;
        EXPECT_EQ(stores.size(), 32U) << warp << " " << first << " " << half;
      }
    }
  }
}

}  // namespace
}  // namespace lab::test
