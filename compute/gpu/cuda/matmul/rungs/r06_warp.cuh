#pragma once
// C = A*B, FP32: each warp computes a square tile, with 8 x 4 lanes of 8 x 16 elements each.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     a 64x64 tile per warp: its 32 lanes read 64 + 64 distinct elements per term (the vector
//          rung: 16 + 128 for half the work), so a byte of shared memory serves twice the
//          arithmetic, and 128 accumulators per thread keep the FMA units busy with few warps.
// Work     2*M*N*K FLOP; 32 FLOP per byte of global memory; 6 shared loads per 128 multiply-adds
// Limits   as the vector rung
// Numerics as the naive rung
// Source   CUTLASS, "Efficient GEMM in CUDA": thread block, warp and thread tiles
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct WarpRung {
  static constexpr CudaRung kRung{
      .name = "warp",
      .title = LAB_TEXT("Warp tile"),
      .sentence = LAB_TEXT(
          "Each warp computes a tile of 64x64, each thread 8x16 of it: lanes share what they read "
          "from shared memory, 128 elements for 4096 multiply-adds instead of 144 for 2048."),
      .precision = Precision::F32,
      .tiling = {.m = 128,
                 .n = 128,
                 .k = 16,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 1,
                 .pad = 4,
                 .blocks_per_sm = 1},
      .small = {.m = 32, .n = 32, .k = 8, .thread_m = 4, .thread_n = 4, .stages = 1, .pad = 4},
      .compute_major = 7,
      .compute_minor = 5,
      .operands = Operands::VectorAlignedOrAny,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"
#include "compute/gpu/cuda/matmul/rungs/transposed_stage.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()], grid: tiles of C
template <Tiling kTile, bool kAligned>
LAB_DEVICE void multiply(WarpRung, MatmulArgs args) {
  using Warp = WarpTile<kTile>;
  const int warp = simt::warp();
  const auto lane = lane_place();
  transposed_product<kTile, kAligned>(args, {warp / Warp::kAcross * Warp::kM + lane.down * kChunk,
                                             warp % Warp::kAcross * Warp::kN + lane.across * kChunk,
                                             kLanesDown * kChunk, kLanesAcross * kChunk});
}

}  // namespace lab::cuda_matmul
#endif
