#pragma once
// Tiles of A and B copied into shared memory element by element, as they lie.
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/matmul/matmul_args.h"
#include "compute/gpu/cuda/matmul/tiling.h"

namespace lab::cuda_matmul {

// 0 outside of A or B, so that a tile past the edge adds nothing.
LAB_DEVICE float element_of_a(const MatmulArgs& args, int row, int p) {
  return row < args.m && p < args.k ? simt::global(args.a)[row * args.lda + p] : 0.0F;
}
LAB_DEVICE float element_of_b(const MatmulArgs& args, int p, int col) {
  return p < args.k && col < args.n ? simt::global(args.b)[p * args.ldb + col] : 0.0F;
}

// to [kTile.m, kTile.k]: rows from `row`, terms from `p`. Neighbouring threads read neighbours.
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

}  // namespace lab::cuda_matmul
