#pragma once
// C = A*B, bf16 operands, FP32 accumulation, on tensor cores by mma.sync.
//   A [M,K]  B [K,N] bf16 bits  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     half the bytes and twice the rate of tf32: one warp instruction multiplies 16x16 by
//          16x8. ldmatrix loads the fragments of A, and the transposed fragments of B, without bank
//          conflicts.
// Work     2*M*N*K FLOP; 85 FLOP per byte of global memory; 32 FLOP per byte of shared memory
// Limits   any M,N,K >= 0; K == 0 writes zeros; kAligned: pointers 16-byte aligned, lda, ldb and N
//          multiples of 8, ldc of 4; without it elements are copied one by one, not by cp.async.
//          Compute capability 8.0 or later
// Numerics exact products; the tensor core may truncate its FP32 sums, so the bound is |err| <=
//          2*gamma_K*(|A||B|), gamma_K = K*u/(1-K*u), u = 2^-24
// Source   PTX ISA, "mma.m16n8k16", "ldmatrix"; error of tensor cores: Fasi, Higham, Mikaitis and
//          Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ CS 2021
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct Bf16Rung {
  static constexpr CudaRung kRung{
      .name = "mma_bf16",
      .title = LAB_TEXT("Tensor cores, bf16"),
      .sentence =
          LAB_TEXT("Operands are bf16: half the bytes at every level of memory, and one mma.sync "
                   "does 2048 multiply-adds; ldmatrix loads its operands without bank conflicts."),
      .precision = Precision::BF16,
      .tiling = {.m = 128,
                 .n = 256,
                 .k = 32,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 4,
                 .element_bytes = 2,
                 .blocks_per_sm = 1},
      .small = {.m = 32,
                .n = 64,
                .k = 32,
                .thread_m = 2,
                .thread_n = 8,
                .stages = 3,
                .element_bytes = 2},
      .compute_major = 8,
      .operands = Operands::VectorAlignedOrAny,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/async_stage.cuh"

namespace lab::cuda_matmul {

struct SwizzledRows {  // 8 rows of B, read at the same piece, cover all 32 banks
  static constexpr int kPeriod = 8, kPieces = 8;
  LAB_DEVICE static constexpr int b(int term) { return term % kPeriod; }
};

template <Tiling kTile>
class Bf16Warp {
 public:
  static constexpr int kTileSteps = kTile.k / 16;
  static constexpr int kSteps = kTileSteps;

  LAB_DEVICE void first(simt::SharedPtr<const std::uint16_t> stage) { load(stage, 0, 0); }

  LAB_DEVICE void step(int s, int next, simt::SharedPtr<const std::uint16_t> stage) {
    load(stage, next, (s + 1) % 2);
    for_fragments<Tile>(
        [&](int i, int j) { simt::mma_m16n8k16_bf16(sums_[i][j], a_[s % 2][i], b_[s % 2][j]); });
  }

  template <bool kAligned>
  LAB_DEVICE void write(const Bf16MatmulArgs& args, const TileOrigin& tile) const {
    const int first = tile.row + Tile::row() + simt::lane() / 4;
    const int col = tile.col + Tile::col() + simt::lane() % 4 * 2;
    LAB_UNROLL
    for (int i = 0; i < 2 * Tile::kDown; ++i) {
      const int row = first + 8 * i;
      if (row >= args.m) continue;
      const auto c = simt::global(args.c) + row * args.ldc;
      LAB_UNROLL
      for (int j = 0; j < Tile::kAcross; ++j) {
        const float* pair = sums_[i / 2][j] + i % 2 * 2;
        write_pair<kAligned>(c, col + j * kMmaN, int(args.n), pair);
      }
    }
  }

 private:
  using Tile = MmaWarpTile<kTile>;
  static_assert(Tile::kAcross % 2 == 0 && kSteps % 2 == 0);

  LAB_DEVICE void load(simt::SharedPtr<const std::uint16_t> stage, int s, int buffer) {
    LAB_UNROLL
    for (int i = 0; i < Tile::kDown; ++i) {
      load_fragment_a<kTile, std::uint16_t>(a_[buffer][i], stage, Tile::row() + i * kMmaM, s);
    }
    const int term = s * 16 + simt::lane() % 16;
    const int piece = Tile::col() / 8 + simt::lane() / 16;
    LAB_UNROLL
    for (int j = 0; j < Tile::kAcross; j += 2) {
      std::uint32_t two[4];
      const int at = ((piece + j) ^ SwizzledRows::b(term)) * 8;
      simt::ldmatrix_transposed(two, stage + (kTile.m * kTile.k + term * kTile.n + at));
      b_[buffer][j][0] = two[0];
      b_[buffer][j][1] = two[1];
      b_[buffer][j + 1][0] = two[2];
      b_[buffer][j + 1][1] = two[3];
    }
  }

  template <bool kAligned>
  LAB_DEVICE static void write_pair(simt::GlobalPtr<float> row, int col, int end,
                                    const float* pair) {
    if constexpr (kAligned) {
      if (col < end) simt::store(row + col, simt::Float2{pair[0], pair[1]});
    } else {
      if (col < end) row[col] = pair[0];
      if (col + 1 < end) row[col + 1] = pair[1];
    }
  }

  std::uint32_t a_[2][Tile::kDown][4];
  std::uint32_t b_[2][Tile::kAcross][2];
  float sums_[Tile::kDown][Tile::kAcross][4] = {};
};

// block [kTile.threads()], grid: tiles of C, kTile.shared_bytes() of dynamic shared memory
template <Tiling kTile, bool kAligned>
LAB_DEVICE void multiply(Bf16Rung, Bf16MatmulArgs args) {
  pipelined_product<kTile, kAligned, SwizzledRows, Bf16Warp<kTile>>(args);
}

}  // namespace lab::cuda_matmul
#endif
