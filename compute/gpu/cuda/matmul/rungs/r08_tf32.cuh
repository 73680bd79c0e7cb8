#pragma once
// C = A*B, FP32 operands rounded to tf32, FP32 accumulation, on tensor cores by mma.sync.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     tensor cores: one warp instruction multiplies 16x8 by 8x8, 1024 multiply-adds instead of
//          32. Operands keep 11 of 24 significant bits. Columns are assigned so that 16 bytes of B
//          are a thread's part of four fragments and its elements of C form runs of eight.
// Work     2*M*N*K FLOP; 32 FLOP per byte of global memory; 16 FLOP per byte of shared memory
// Limits   any M,N,K >= 0; K == 0 writes zeros; kAligned as in the async rung. Compute capability
//          8.0 or later
// Numerics |err| <= (2*v + v*v + 2*gamma_K)*(|A||B|), v = 2^-11 for the rounding of the operands,
//          gamma_K = K*u/(1-K*u), u = 2^-24 for sums that may be truncated
// Source   PTX ISA, "mma.m16n8k8", "cvt"; tensor-core error: as for the bf16 rung
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct Tf32Rung {
  static constexpr CudaRung kRung{
      .name = "mma_tf32",
      .title = LAB_TEXT("Tensor cores, tf32"),
      .sentence =
          LAB_TEXT("Operands are rounded to tf32 (11 bits) and multiplied by tensor cores with "
                   "mma.sync: one warp instruction does 1024 multiply-adds instead of 32."),
      .precision = Precision::TF32,
      .tiling = {.m = 128,
                 .n = 128,
                 .k = 16,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 4,
                 .blocks_per_sm = 2},
      .small = {.m = 32, .n = 32, .k = 16, .thread_m = 2, .thread_n = 8, .stages = 3},
      .compute_major = 8,
      .operands = Operands::VectorAlignedOrAny,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/async_stage.cuh"
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul {

struct PairedRows {  // 4 rows of B, read at two neighbouring pieces, cover all 32 banks
  static constexpr int kPeriod = 4, kPieces = 8;
  LAB_DEVICE static constexpr int b(int term) { return term % kPeriod * 2; }
};

// Columns are processed in groups of 32. Within a group, column 4g + j is column g of fragment j,
// for g in 0..7 and j in 0..3: the assignment of columns to fragments does not affect the product.
template <Tiling kTile>
class Tf32Warp {
 public:
  static constexpr int kTileSteps = kTile.k / 8;
  static constexpr int kSteps = kTileSteps;

  LAB_DEVICE void first(simt::SharedPtr<const float> stage) { load(stage, 0, 0); }

  LAB_DEVICE void step(int s, int next, simt::SharedPtr<const float> stage) {
    load(stage, next, (s + 1) % 2);
    for_fragments<Tile>(
        [&](int i, int j) { simt::mma_m16n8k8_tf32(sums_[i][j], a_[s % 2][i], b_[s % 2][j]); });
  }

  template <bool kAligned>
  LAB_DEVICE void write(const MatmulArgs& args, const TileOrigin& tile) const {
    const int first = tile.row + Tile::row() + simt::lane() / 4;
    const int col = tile.col + Tile::col() + simt::lane() % 4 * 2 * kFragments;
    LAB_UNROLL
    for (int i = 0; i < 2 * Tile::kDown; ++i) {
      const int row = first + 8 * i;
      if (row >= args.m) continue;
      const auto c = simt::global(args.c) + row * args.ldc;
      LAB_UNROLL
      for (int j = 0; j < Tile::kAcross; j += kFragments) {
        LAB_UNROLL
        for (int e = 0; e < 2; ++e) {  // column 2t + e of four fragments
          float chunk[kFragments];
          LAB_UNROLL
          for (int f = 0; f < kFragments; ++f) chunk[f] = sums_[i / 2][j + f][i % 2 * 2 + e];
          write_chunk<kAligned>(c, col + j * kMmaN + e * kFragments, int(args.n), chunk);
        }
      }
    }
  }

 private:
  using Tile = MmaWarpTile<kTile>;
  static constexpr int kFragments = kChunk;  // fragments of B per 16 bytes
  static_assert(Tile::kAcross % kFragments == 0 && kSteps % 2 == 0);

  LAB_DEVICE void load(simt::SharedPtr<const float> stage, int s, int buffer) {
    LAB_UNROLL
    for (int i = 0; i < Tile::kDown; ++i) {
      auto& a = a_[buffer][i];
      load_fragment_a<kTile, float>(a, stage, Tile::row() + i * kMmaM, s);
      LAB_UNROLL
      for (auto& x : a) x = simt::to_tf32(__builtin_bit_cast(float, x));
    }
    LAB_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int term = s * 8 + e * 4 + simt::lane() % 4;
      const int piece = Tile::col() / kChunk + simt::lane() / 4;
      LAB_UNROLL
      for (int j = 0; j < Tile::kAcross; j += kFragments) {
        float four[kChunk];
        const int at = ((piece + j * kMmaN / kChunk) ^ PairedRows::b(term)) * kChunk;
        unpack(four, simt::load<simt::Float4>(stage + (kTile.m * kTile.k + term * kTile.n + at)));
        LAB_UNROLL
        for (int f = 0; f < kFragments; ++f) b_[buffer][j + f][e] = simt::to_tf32(four[f]);
      }
    }
  }

  std::uint32_t a_[2][Tile::kDown][4];
  std::uint32_t b_[2][Tile::kAcross][2];
  float sums_[Tile::kDown][Tile::kAcross][4] = {};
};

// block [kTile.threads()], grid: tiles of C, kTile.shared_bytes() of dynamic shared memory
template <Tiling kTile, bool kAligned>
LAB_DEVICE void multiply(Tf32Rung, MatmulArgs args) {
  pipelined_product<kTile, kAligned, PairedRows, Tf32Warp<kTile>>(args);
}

}  // namespace lab::cuda_matmul
#endif
