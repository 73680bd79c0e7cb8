#pragma once
// C = A*B, FP32: the naive rung with the lanes of a warp along a row of C.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     coalescing: 32 lanes read 32 consecutive elements of B (one 128-byte line) and one
//          element of A (a broadcast), and store 32 consecutive elements of C.
// Work     2*M*N*K FLOP; 132 bytes loaded per warp for 64 FLOP (0.48 FLOP per byte, mostly from
//          cache)
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros
// Numerics as the naive rung
// Source   CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"
#include "compute/gpu/cuda/matmul/rungs/r00_naive.cuh"

namespace lab::cuda_matmul {

struct CoalescedRung {
  static constexpr CudaRung kRung{
      .name = "coalesced",
      .title = LAB_TEXT("Coalesced"),
      .sentence = LAB_TEXT(
          "The lanes of a warp are mapped along a row of C: they read 32 adjacent elements of B in "
          "one transaction and share one of A, so all bytes loaded are used."),
      .precision = Precision::F32,
      .tiling = {.m = 8, .n = 32},
      .small = {.m = 8, .n = 32},
      .compute_major = 7,
      .compute_minor = 5,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE

namespace lab::cuda_matmul {

// block [kTile.m * kTile.n], grid: tiles of C
template <Tiling kTile, bool /*kAligned*/>
LAB_DEVICE void multiply(CoalescedRung, MatmulArgs args) {
  const auto tile = tile_origin<kTile>(int(args.m), int(args.n));
  const int thread = simt::thread_idx().x;
  dot_product(args, tile.row + thread / kTile.n, tile.col + thread % kTile.n);
}

}  // namespace lab::cuda_matmul
#endif
