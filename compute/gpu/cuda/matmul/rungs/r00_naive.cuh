#pragma once
// C = A*B, FP32, by the definition: one thread per element of C, all operands read from global
// memory.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     the baseline. The lanes of a warp compute 32 different rows, so each load of A and each
//          store to C touches 32 separate sectors of memory.
// Work     2*M*N*K FLOP; 8 bytes loaded per multiply-add (0.25 FLOP per byte)
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros
// Numerics FP32 fused multiply-add in order of k; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u),
//          u = 2^-24
// Source   the definition; bound: Higham 2002, ch. 3
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct NaiveRung {
  static constexpr CudaRung kRung{
      .name = "naive",
      .title = LAB_TEXT("One thread per element"),
      .sentence = LAB_TEXT(
          "The definition, one thread per element of C: the lanes of a warp are in different rows, "
          "so every load of A and every store touches 32 separate memory segments."),
      .precision = Precision::F32,
      .tiling = {.m = 32, .n = 8},
      .small = {.m = 32, .n = 8},
      .compute_major = 7,
      .compute_minor = 5,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

// Computes one element of C, its terms in order.
LAB_DEVICE void dot_product(const MatmulArgs& args, int row, int col) {
  if (row >= args.m || col >= args.n) return;
  const auto a = simt::global(args.a) + row * args.lda;
  const auto b = simt::global(args.b) + col;
  float sum = 0;
  for (int p = 0; p < args.k; ++p) sum = simt::fma(a[p], b[p * args.ldb], sum);
  simt::global(args.c)[row * args.ldc + col] = sum;
}

// block [kTile.m * kTile.n], grid: tiles of C
template <Tiling kTile, bool /*kAligned*/>
LAB_DEVICE void multiply(NaiveRung, MatmulArgs args) {
  const auto tile = tile_origin<kTile>(int(args.m), int(args.n));
  const int thread = simt::thread_idx().x;
  dot_product(args, tile.row + thread % kTile.m, tile.col + thread / kTile.m);
}

}  // namespace lab::cuda_matmul
#endif
