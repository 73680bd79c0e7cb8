#pragma once
// C = A*B, FP32: each block stages tiles of A and B in shared memory, from which its threads read.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     reuse: an element loaded once from global memory serves a whole row or column of the
//          tile, so there are 32 times fewer global loads, but still two shared loads per
//          multiply-add.
// Work     2*M*N*K FLOP; 8 FLOP per byte of global memory, 0.25 FLOP per byte of shared memory
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros
// Numerics as the naive rung
// Source   CUDA C++ Programming Guide, "Shared Memory"
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct SharedRung {
  static constexpr CudaRung kRung{
      .name = "shared",
      .title = LAB_TEXT("Shared-memory tiles"),
      .sentence = LAB_TEXT("A block first copies a tile of A and one of B into shared memory: each "
                           "element is loaded from global memory once per 32 uses."),
      .precision = Precision::F32,
      .tiling = {.m = 32, .n = 32, .k = 32, .stages = 1},
      .small = {.m = 8, .n = 8, .k = 8, .stages = 1},
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
LAB_DEVICE void multiply(SharedRung, MatmulArgs args) {
  LAB_SHARED(float, a_tile, kTile.m* kTile.k);
  LAB_SHARED(float, b_tile, kTile.k* kTile.n);
  const auto tile = tile_origin<kTile>(int(args.m), int(args.n));
  const int row = simt::thread_idx().x / kTile.n;
  const int col = simt::thread_idx().x % kTile.n;
  float sum = 0;
  for (int p = 0; p < args.k; p += kTile.k) {
    stage_a<kTile>(a_tile, args, tile.row, p);
    stage_b<kTile>(b_tile, args, p, tile.col);
    simt::sync_threads();
    LAB_UNROLL
    for (int q = 0; q < kTile.k; ++q) {
      sum = simt::fma(a_tile[row * kTile.k + q], b_tile[q * kTile.n + col], sum);
    }
    simt::sync_threads();
  }
  if (tile.row + row < args.m && tile.col + col < args.n) {
    simt::global(args.c)[(tile.row + row) * args.ldc + tile.col + col] = sum;
  }
}

}  // namespace lab::cuda_matmul
#endif
