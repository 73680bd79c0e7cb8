#pragma once
// C = A*B, FP32: each warp has a square tile of its own, 8 x 4 lanes of 8 x 16 numbers.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     a tile of 64x64 a warp: its 32 lanes together read 64 + 64 different numbers a term (the
//          vector rung: 16 + 128 for half the work), so shared memory serves twice the arithmetic,
//          and 128 sums a thread keep the multipliers busy without many warps.
// Work     2*M*N*K FLOP; 32 FLOP a byte of global memory; 6 shared loads for 128 multiply-adds
// Limits   as the vector rung
// Numerics as the naive rung
// Source   CUTLASS, "Efficient GEMM in CUDA": thread block, warp and thread tiles
#include "compute/gpu/cuda/matmul/transposed_stage.cuh"
#include "compute/gpu/cuda/matmul/warp_place.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()], grid: tiles of C
template <Tiling kTile, bool kAligned>
LAB_DEVICE void warp_body(MatmulArgs args) {
  using Warp = WarpTile<kTile>;
  const int warp = simt::warp();
  const auto lane = lane_place();
  transposed_product<kTile, kAligned>(args, {warp / Warp::kAcross * Warp::kM + lane.down * kChunk,
                                             warp % Warp::kAcross * Warp::kN + lane.across * kChunk,
                                             kLanesDown * kChunk, kLanesAcross * kChunk});
}

}  // namespace lab::cuda_matmul
