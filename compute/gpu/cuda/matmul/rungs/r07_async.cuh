#pragma once
// C = A*B, FP32: the warp rung with tiles copied by cp.async while earlier ones are multiplied.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     overlap: asynchronous copies bypass the registers and fill later stages, so a tile is
//          present before it is needed, and fragments of the next term are loaded during the
//          multiplies of this one. A is not transposed: a load takes 4 terms of a row, and swizzled
//          pieces avoid bank conflicts. Blocks are numbered down bands of C, which share L2.
// Work     2*M*N*K FLOP; 32 FLOP per byte of global memory; 6 shared loads per 128 multiply-adds
// Limits   any M,N,K >= 0; K == 0 writes zeros; kAligned: pointers 16-byte aligned, ld* and N
//          multiples of 4; without it each copy moves 4 bytes. Compute capability 8.0 or later
// Numerics as the naive rung
// Source   CUTLASS, "Efficient GEMM in CUDA"; PTX ISA, "cp.async"; register order after Lai and
//          Seznec, "Performance Upper Bound Analysis and Optimization of SGEMM", CGO 2013
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct AsyncRung {
  static constexpr CudaRung kRung{
      .name = "async",
      .title = LAB_TEXT("Double-buffered, cp.async"),
      .sentence = LAB_TEXT(
          "Tiles are copied into shared memory by cp.async while earlier ones are multiplied, and "
          "fragments are loaded one term ahead, which hides the memory latency."),
      .precision = Precision::F32,
      .tiling = {.m = 128,
                 .n = 128,
                 .k = 16,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 4,
                 .blocks_per_sm = 2},
      .small = {.m = 32, .n = 32, .k = 16, .thread_m = 4, .thread_n = 4, .stages = 3},
      .compute_major = 8,
      .operands = Operands::VectorAlignedOrAny,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/async_stage.cuh"
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

struct PlainRows {  // the lanes read neighbouring columns of one row of B
  static constexpr int kPeriod = 1, kPieces = 1;
  LAB_DEVICE static constexpr int b(int /*term*/) { return 0; }
};

// A thread's part of its warp's tile: rows 8 apart, and chunks of 4 columns 16 apart. kAlternates:
// every other row is multiplied from its last column to its first.
template <Tiling kTile, bool kAlternates>
class SimtWarp {
 public:
  static constexpr int kTileSteps = kTile.k;
  // 8 terms take 19 KB of code; 16 would save 3 % of the instructions but take 36 KB.
  static constexpr int kSteps = kTile.unrolled_steps;

  LAB_DEVICE SimtWarp() {
    using Warp = WarpTile<kTile>;
    const auto lane = lane_place();
    row_ = simt::warp() / Warp::kAcross * Warp::kM + lane.down;
    col_ = simt::warp() % Warp::kAcross * Warp::kN + lane.across * kChunk;
    a_from_ = row_ * kTile.k;
    b_from_ = kTile.m * kTile.k + col_;
  }

  LAB_DEVICE void first(simt::SharedPtr<const float> stage) {
    LAB_UNROLL
    for (int i = 0; i < kTile.thread_m; ++i) load_a(stage, i, 0);
    load_b(stage, 0, 0);
  }

  // A's registers hold 4 terms: those of row i are reloaded as soon as the fourth is used.
  LAB_DEVICE void step(int s, int next, simt::SharedPtr<const float> stage) {
    load_b(stage, next, (s + 1) % 2);
    LAB_UNROLL
    for (int i = 0; i < kTile.thread_m; ++i) {
      LAB_UNROLL
      for (int jj = 0; jj < kTile.thread_n; ++jj) {
        const int j = kAlternates && i % 2 != 0 ? kTile.thread_n - 1 - jj : jj;
        sums_[i][j] = simt::fma(a_[i][s % kChunk], b_[s % 2][j], sums_[i][j]);
      }
      if (s % kChunk == kChunk - 1) load_a(stage, i, next / kChunk);
    }
  }

  template <bool kAligned>
  LAB_DEVICE void write(const MatmulArgs& args, const TileOrigin& tile) const {
    LAB_UNROLL
    for (int i = 0; i < kTile.thread_m; ++i) {
      const int row = tile.row + row_ + i * kLanesDown;
      if (row >= args.m) continue;
      const auto c = simt::global(args.c) + row * args.ldc;
      LAB_UNROLL
      for (int j = 0; j < kTile.thread_n / kChunk; ++j) {
        const int col = tile.col + col_ + j * kLanesAcross * kChunk;
        write_chunk<kAligned>(c, col, int(args.n), sums_[i] + j * kChunk);
      }
    }
  }

 private:
  static_assert(kTile.k % kSteps == 0 && kSteps % kChunk == 0 && kSteps % 2 == 0);

  LAB_DEVICE void load_a(simt::SharedPtr<const float> stage, int i, int piece) {
    // A thread's rows are 8 apart and therefore share their swizzle.
    const int at = a_from_ + (piece ^ swizzle_a(row_)) * kChunk;
    unpack(a_[i], simt::load<simt::Float4>(stage + (at + i * kLanesDown * kTile.k)));
  }
  LAB_DEVICE void load_b(simt::SharedPtr<const float> stage, int term, int buffer) {
    LAB_UNROLL
    for (int j = 0; j < kTile.thread_n / kChunk; ++j) {
      const int at = b_from_ + term * kTile.n + j * kLanesAcross * kChunk;
      unpack(b_[buffer] + j * kChunk, simt::load<simt::Float4>(stage + at));
    }
  }

  int row_, col_;
  int a_from_, b_from_;
  float a_[kTile.thread_m][kChunk];
  float b_[2][kTile.thread_n];
  float sums_[kTile.thread_m][kTile.thread_n] = {};
};

// block [kTile.threads()], grid: tiles of C, kTile.shared_bytes() of dynamic shared memory
template <Tiling kTile, bool kAligned>
LAB_DEVICE void multiply(AsyncRung, MatmulArgs args) {
  // The register file reads one register per clock and bank. These are the orders for which ptxas
  // chooses fewest operands in the same bank.
  constexpr bool kAlternates = !kAligned;
  pipelined_product<kTile, kAligned, PlainRows, SimtWarp<kTile, kAlternates>>(args);
}

}  // namespace lab::cuda_matmul
#endif
