#pragma once
// C = A*B, FP32: shared-memory tiles; each thread computes several elements of a column of C.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     register reuse: an element of B, loaded once from shared memory, is multiplied with 8 of
//          A, so a multiply-add costs 1.1 shared loads instead of 2, and 8 independent accumulators
//          hide the latency of the arithmetic.
// Work     2*M*N*K FLOP; 16 FLOP per byte of global memory
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros
// Numerics as the naive rung
// Source   Volkov, "Better Performance at Lower Occupancy", GTC 2010
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct ColumnRung {
  static constexpr CudaRung kRung{
      .name = "column",
      .title = LAB_TEXT("1-D block tile"),
      .sentence =
          LAB_TEXT("Each thread computes 8 elements of a column of C: an element of B is kept in a "
                   "register and used 8 times, which halves the shared-memory loads."),
      .precision = Precision::F32,
      .tiling = {.m = 64, .n = 64, .k = 8, .thread_m = 8, .stages = 1},
      .small = {.m = 16, .n = 8, .k = 4, .thread_m = 4, .stages = 1},
      .compute_major = 7,
      .compute_minor = 5,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()], grid: tiles of C
template <Tiling kTile, bool /*kAligned*/>
LAB_DEVICE void multiply(ColumnRung, MatmulArgs args) {
  LAB_SHARED(float, a_tile, kTile.m* kTile.k);
  LAB_SHARED(float, b_tile, kTile.k* kTile.n);
  const auto tile = tile_origin<kTile>(int(args.m), int(args.n));
  const int row = simt::thread_idx().x / kTile.n * kTile.thread_m;
  const int col = simt::thread_idx().x % kTile.n;
  float sums[kTile.thread_m] = {};
  for (int p = 0; p < args.k; p += kTile.k) {
    stage_a<kTile>(a_tile, args, tile.row, p);
    stage_b<kTile>(b_tile, args, p, tile.col);
    simt::sync_threads();
    LAB_UNROLL
    for (int q = 0; q < kTile.k; ++q) {
      const float b = b_tile[q * kTile.n + col];
      LAB_UNROLL
      for (int i = 0; i < kTile.thread_m; ++i) {
        sums[i] = simt::fma(a_tile[(row + i) * kTile.k + q], b, sums[i]);
      }
    }
    simt::sync_threads();
  }
  const auto c = simt::global(args.c);
  LAB_UNROLL
  for (int i = 0; i < kTile.thread_m; ++i) {
    const int r = tile.row + row + i;
    if (r < args.m && tile.col + col < args.n) c[r * args.ldc + tile.col + col] = sums[i];
  }
}

}  // namespace lab::cuda_matmul
#endif
