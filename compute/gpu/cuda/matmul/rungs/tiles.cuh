#pragma once
// Tiles: which tile a block computes, the positions of warps and lanes in it, and access to
// operands by element or by 16-byte chunk.
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct TileOrigin {
  int row, col;
};

// Tiles are numbered down bands of `kBand` tiles, so that concurrent blocks share rows of A and
// columns of B in L2, whatever the width of C. With kBand = 1 the order is row-major.
template <Tiling kTile, int kBand>
LAB_DEVICE TileOrigin tile_at(int index, int m, int n) {
  const int tiles_m = (m + kTile.m - 1) / kTile.m;
  const int tiles_n = (n + kTile.n - 1) / kTile.n;
  const int band = index / (kBand * tiles_n);
  const int in_band = index - band * kBand * tiles_n;
  const int below = tiles_m - band * kBand;
  const int rows = below < kBand ? below : kBand;
  return {(band * kBand + in_band % rows) * kTile.m, in_band / rows * kTile.n};
}

// The tile of this block.
template <Tiling kTile, int kBand = 1>
LAB_DEVICE TileOrigin tile_origin(int m, int n) {
  return tile_at<kTile, kBand>(simt::block_idx().x, m, n);
}

// For persistent blocks: calls work(tile) for each tile of this block, which has rank `rank` in its
// cluster, in bands of kBandRows rows. A cluster takes kTile.cluster adjacent tiles at a time. All
// but the first may be outside C, so that all blocks of a cluster get the same number of tiles.
template <Tiling kTile, int kBandRows, class Work>
LAB_DEVICE void for_assigned_tiles(int m, int n, int rank, const Work& work) {
  constexpr Tiling kWhole = kTile.of_cluster();
  static_assert(kBandRows % kWhole.m == 0);
  const int count = ((m + kWhole.m - 1) / kWhole.m) * ((n + kWhole.n - 1) / kWhole.n);
  const int step = simt::grid_dim().x / kTile.cluster;
  for (int i = simt::block_idx().x / kTile.cluster; i < count; i += step) {
    TileOrigin tile = tile_at<kWhole, kBandRows / kWhole.m>(i, m, n);
    if constexpr (kTile.beside) {
      tile.col += rank * kTile.n;
    } else {
      tile.row += rank * kTile.m;
    }
    work(tile);
  }
}

constexpr int kLanesDown = 8;
constexpr int kLanesAcross = 4;

template <Tiling kTile>
struct WarpTile {
  static constexpr int kM = kLanesDown * kTile.thread_m;
  static constexpr int kN = kLanesAcross * kTile.thread_n;
  static constexpr int kAcross = kTile.n / kN;  // warps in a row of the block
  static_assert(kTile.m % kM == 0 && kTile.n % kN == 0);
};

struct LanePlace {
  int down, across;  // 0..7, 0..3
};

// Lanes i and i^1 share a row of lanes, i and i^2 a column. For such pairs, a 16-byte load with
// equal addresses in each half-warp takes one pass over the banks, for both A and B.
LAB_DEVICE LanePlace lane_place() {
  const int lane = simt::lane();
  return {lane / 2 % kLanesDown, lane % 2 + lane / 16 * 2};
}

constexpr int kChunk = 4;

LAB_DEVICE void unpack(float* to, const simt::Float4& from) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
  to[3] = from.w;
}

// to[0..3] = row[col..col+3], with 0 from column `end` on. kAligned: row + col is 16-byte aligned.
template <bool kAligned>
LAB_DEVICE void read_chunk(float (&to)[kChunk], simt::GlobalPtr<const float> row, int col,
                           int end) {
  if (kAligned && col + kChunk <= end) {
    unpack(to, simt::load_readonly<simt::Float4>(row + col));
    return;
  }
  LAB_UNROLL
  for (int e = 0; e < kChunk; ++e) to[e] = col + e < end ? row[col + e] : 0.0F;
}

// row[col..col+3] = from[0..3]; columns from `end` on are not written.
template <bool kAligned>
LAB_DEVICE void write_chunk(simt::GlobalPtr<float> row, int col, int end, const float* from) {
  if constexpr (kAligned) {  // `end` is a multiple of kChunk
    if (col < end) simt::store(row + col, simt::own_registers(from));
  } else {
    LAB_UNROLL
    for (int e = 0; e < kChunk; ++e) {
      if (col + e < end) row[col + e] = from[e];
    }
  }
}

// Returns 0 outside A or B, so that terms past the edge add nothing.
LAB_DEVICE float element_of_a(const MatmulArgs& args, int row, int p) {
  return row < args.m && p < args.k ? simt::global(args.a)[row * args.lda + p] : 0.0F;
}
LAB_DEVICE float element_of_b(const MatmulArgs& args, int p, int col) {
  return p < args.k && col < args.n ? simt::global(args.b)[p * args.ldb + col] : 0.0F;
}

// to [kTile.m, kTile.k]: rows from `row`, terms from `p`. Neighbouring threads read neighbouring
// elements.
template <Tiling kTile>
LAB_DEVICE void stage_a(simt::SharedPtr<float> to, const MatmulArgs& args, int row, int p) {
  static_assert(kTile.m * kTile.k % kThreads<kTile> == 0);
  LAB_UNROLL
  for (int i = 0; i < kTile.m * kTile.k / kThreads<kTile>; ++i) {
    const int at = simt::thread_idx().x + i * kThreads<kTile>;
    to[at] = element_of_a(args, row + at / kTile.k, p + at % kTile.k);
  }
}

// to [kTile.k, kTile.n]: terms from `p`, columns from `col`.
template <Tiling kTile>
LAB_DEVICE void stage_b(simt::SharedPtr<float> to, const MatmulArgs& args, int p, int col) {
  static_assert(kTile.k * kTile.n % kThreads<kTile> == 0);
  LAB_UNROLL
  for (int i = 0; i < kTile.k * kTile.n / kThreads<kTile>; ++i) {
    const int at = simt::thread_idx().x + i * kThreads<kTile>;
    to[at] = element_of_b(args, p + at / kTile.n, col + at % kTile.n);
  }
}

// Where a lane of a warpgroup puts its sums in a staged piece of C: 64 rows of 128 bytes, in which
// the copy engine expects 16-byte chunk c of row r at chunk c ^ r % 8. Store i of half h holds
// columns 8 * (i ^ 2 * odd) + 2 * (lane % 4) and the next, of row 16 * warp + lane / 4 + 8 * h.
struct StagedPlace {
  int first;  // bytes
  bool odd;   // the row is odd

  LAB_DEVICE int offset(int half, int i) const {
    return (first + half * 8 * kCPieceColumns * 4) ^ i * 32;
  }
};
LAB_DEVICE StagedPlace staged_place(int warp, int lane) {
  const int row = lane / 4, pair = lane % 4;
  const bool odd = row % 2 == 1;
  const int chunk = (pair / 2 ^ row) ^ (odd ? 4 : 0);
  return {(warp * 16 + row) * kCPieceColumns * 4 + chunk * 16 + pair % 2 * 8, odd};
}

}  // namespace lab::cuda_matmul
