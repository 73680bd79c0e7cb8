#pragma once
// Products from shared-memory tiles in which A is stored transposed, so that one 16-byte load reads
// 4 rows of A or 4 columns of B.
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

// The position of a thread's part of the block's tile: rows row + i*row_step + 0..3 and columns col
// + j*col_step + 0..3. The steps spread the lanes of a warp over neighbouring chunks, which keeps
// their 16-byte loads free of bank conflicts.
struct ThreadPlace {
  int row, col, row_step, col_step;
};

// to [kTile.k, kTile.m + kTile.pad]: the tile's rows from `row` and terms from `p`, transposed. The
// padding places neighbouring terms of a row in different banks.
template <Tiling kTile, bool kAligned>
LAB_DEVICE void stage_a_transposed(simt::SharedPtr<float> to, const MatmulArgs& args, int row,
                                   int p) {
  constexpr int kChunks = kTile.k / kChunk;
  constexpr int kRows = kThreads<kTile> / kChunks;  // with one chunk per thread
  static_assert(kTile.m % kRows == 0);
  const int chunk = simt::thread_idx().x % kChunks * kChunk;
  LAB_UNROLL
  for (int i = 0; i < kTile.m / kRows; ++i) {
    const int r = simt::thread_idx().x / kChunks + i * kRows;
    float part[kChunk] = {};
    if (row + r < args.m) {
      const auto a = simt::global(args.a) + (row + r) * args.lda;
      read_chunk<kAligned>(part, a, p + chunk, int(args.k));
    }
    LAB_UNROLL
    for (int e = 0; e < kChunk; ++e) to[(chunk + e) * (kTile.m + kTile.pad) + r] = part[e];
  }
}

// to [kTile.k, kTile.n]: terms from `p`, columns from `col`.
template <Tiling kTile, bool kAligned>
LAB_DEVICE void stage_b_chunks(simt::SharedPtr<float> to, const MatmulArgs& args, int p, int col) {
  constexpr int kChunks = kTile.n / kChunk;
  constexpr int kRows = kThreads<kTile> / kChunks;
  static_assert(kThreads<kTile> % kChunks == 0 && kTile.k % kRows == 0);
  const int chunk = simt::thread_idx().x % kChunks * kChunk;
  LAB_UNROLL
  for (int i = 0; i < kTile.k / kRows; ++i) {
    const int q = simt::thread_idx().x / kChunks + i * kRows;
    float part[kChunk] = {};
    if (p + q < args.k) {
      const auto b = simt::global(args.b) + (p + q) * args.ldb;
      read_chunk<kAligned>(part, b, col + chunk, int(args.n));
    }
    simt::store(to + q * kTile.n + chunk, simt::Float4{part[0], part[1], part[2], part[3]});
  }
}

// to[0..kCount) = 16-byte chunks of a tile's row, `step` elements apart.
template <int kCount>
LAB_DEVICE void load_fragment(float (&to)[kCount], simt::SharedPtr<const float> row, int step) {
  static_assert(kCount % kChunk == 0);
  LAB_UNROLL
  for (int i = 0; i < kCount / kChunk; ++i) {
    unpack(to + i * kChunk, simt::load<simt::Float4>(row + i * step));
  }
}

template <Tiling kTile>
LAB_DEVICE void multiply_transposed(float (&sums)[kTile.thread_m][kTile.thread_n],
                                    simt::SharedPtr<const float> a_tile,
                                    simt::SharedPtr<const float> b_tile, const ThreadPlace& place) {
  LAB_UNROLL
  for (int q = 0; q < kTile.k; ++q) {
    float a[kTile.thread_m];
    float b[kTile.thread_n];
    load_fragment(a, a_tile + q * (kTile.m + kTile.pad) + place.row, place.row_step);
    load_fragment(b, b_tile + q * kTile.n + place.col, place.col_step);
    LAB_UNROLL
    for (int i = 0; i < kTile.thread_m; ++i) {
      LAB_UNROLL
      for (int j = 0; j < kTile.thread_n; ++j) sums[i][j] = simt::fma(a[i], b[j], sums[i][j]);
    }
  }
}

// Computes a whole product by blocks of kThreads threads, each thread at its `place`.
template <Tiling kTile, bool kAligned>
LAB_DEVICE void transposed_product(const MatmulArgs& args, const ThreadPlace& place) {
  LAB_SHARED(float, a_tile, kTile.k*(kTile.m + kTile.pad));
  LAB_SHARED(float, b_tile, kTile.k* kTile.n);
  const auto tile = tile_origin<kTile>(int(args.m), int(args.n));
  float sums[kTile.thread_m][kTile.thread_n] = {};
  for (int p = 0; p < args.k; p += kTile.k) {
    stage_a_transposed<kTile, kAligned>(a_tile, args, tile.row, p);
    stage_b_chunks<kTile, kAligned>(b_tile, args, p, tile.col);
    simt::sync_threads();
    multiply_transposed<kTile>(sums, a_tile, b_tile, place);
    simt::sync_threads();
  }
  LAB_UNROLL
  for (int i = 0; i < kTile.thread_m; ++i) {
    const int row = tile.row + place.row + i / kChunk * place.row_step + i % kChunk;
    if (row >= args.m) continue;
    const auto c = simt::global(args.c) + row * args.ldc;
    LAB_UNROLL
    for (int j = 0; j < kTile.thread_n / kChunk; ++j) {
      const int col = tile.col + place.col + j * place.col_step;
      write_chunk<kAligned>(c, col, int(args.n), sums[i] + j * kChunk);
    }
  }
}

}  // namespace lab::cuda_matmul
