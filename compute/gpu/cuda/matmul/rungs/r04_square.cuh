#pragma once
// C = A*B, FP32: shared-memory tiles; each thread computes a small square of C in registers.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     register reuse in both directions: 8 elements of A and 8 of B, loaded once, give 64
//          multiply-adds, so a multiply-add costs a quarter of a shared load instead of about one.
// Work     2*M*N*K FLOP; 32 FLOP per byte of global memory, 2 FLOP per byte of shared memory
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros
// Numerics as the naive rung
// Source   Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct SquareRung {
  static constexpr CudaRung kRung{
      .name = "square",
      .title = LAB_TEXT("2-D block tile"),
      .sentence = LAB_TEXT("Each thread computes 8x8 elements: 16 loads feed 64 multiply-adds, "
                           "four per load instead of one."),
      .precision = Precision::F32,
      .tiling = {.m = 128, .n = 128, .k = 8, .thread_m = 8, .thread_n = 8, .stages = 1},
      .small = {.m = 16, .n = 16, .k = 4, .thread_m = 4, .thread_n = 4, .stages = 1},
      .compute_major = 7,
      .compute_minor = 5,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

// sums += the outer product of a column of A's tile and a row of B's, for each of the tile's terms.
template <Tiling kTile>
LAB_DEVICE void multiply_square(float (&sums)[kTile.thread_m][kTile.thread_n],
                                simt::SharedPtr<const float> a, simt::SharedPtr<const float> b) {
  LAB_UNROLL
  for (int q = 0; q < kTile.k; ++q) {
    float a_part[kTile.thread_m];
    float b_part[kTile.thread_n];
    LAB_UNROLL
    for (int i = 0; i < kTile.thread_m; ++i) a_part[i] = a[i * kTile.k + q];
    LAB_UNROLL
    for (int j = 0; j < kTile.thread_n; ++j) b_part[j] = b[q * kTile.n + j];
    LAB_UNROLL
    for (int i = 0; i < kTile.thread_m; ++i) {
      LAB_UNROLL
      for (int j = 0; j < kTile.thread_n; ++j) {
        sums[i][j] = simt::fma(a_part[i], b_part[j], sums[i][j]);
      }
    }
  }
}

// block [kTile.threads()], grid: tiles of C
template <Tiling kTile, bool /*kAligned*/>
LAB_DEVICE void multiply(SquareRung, MatmulArgs args) {
  LAB_SHARED(float, a_tile, kTile.m* kTile.k);
  LAB_SHARED(float, b_tile, kTile.k* kTile.n);
  constexpr int kAcross = kTile.n / kTile.thread_n;
  const auto tile = tile_origin<kTile>(int(args.m), int(args.n));
  const int row = simt::thread_idx().x / kAcross * kTile.thread_m;
  const int col = simt::thread_idx().x % kAcross * kTile.thread_n;
  float sums[kTile.thread_m][kTile.thread_n] = {};
  for (int p = 0; p < args.k; p += kTile.k) {
    stage_a<kTile>(a_tile, args, tile.row, p);
    stage_b<kTile>(b_tile, args, p, tile.col);
    simt::sync_threads();
    multiply_square<kTile>(sums, a_tile + row * kTile.k, b_tile + col);
    simt::sync_threads();
  }
  const auto c = simt::global(args.c);
  LAB_UNROLL
  for (int i = 0; i < kTile.thread_m; ++i) {
    LAB_UNROLL
    for (int j = 0; j < kTile.thread_n; ++j) {
      const int r = tile.row + row + i, s = tile.col + col + j;
      if (r < args.m && s < args.n) c[r * args.ldc + s] = sums[i][j];
    }
  }
}

}  // namespace lab::cuda_matmul
#endif
