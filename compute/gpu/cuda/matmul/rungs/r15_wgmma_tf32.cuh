#pragma once
// C = A*B, FP32 operands rounded to tf32, FP32 accumulation: the store rung for tf32.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     wgmma for tf32, which reads operands from shared memory only if each of their rows holds
//          terms. Those of A do; B would have to be transposed. So blocks compute C^T = B^T * A^T:
//          wgmma also accepts its first operand in registers, and a lane loads its elements of B
//          from wherever they are. A lane's two rows of B^T are neighbouring columns of B, so that
//          8 bytes are two of its elements. The copy engine rounds f32 to tf32 as it copies. The
//          cluster shares A, the larger operand of a 256x128 tile
// Work     2*M*N*K FLOP. A stage is 2.1 MFLOP, 1024 tensor core clocks. It reads 16 KiB of B and
//          half of 32 KiB of A from L2, 32 bytes per clock and SM. Of the 128 bytes per clock of
//          shared memory, wgmma takes 64 (A, twice), loads to registers 16, and copies 48
// Limits   M,N >= 0, K > 0; pointers 16-byte aligned, lda, ldb, ldc and N multiples of 4; compute
//          capability 9.0 only (sm_90a). Runs on a GPU only, not in the emulator, except for its
//          tile order and the order of its loads and stores
// Numerics as the mma.sync rung for tf32
// Source   PTX ISA, "wgmma.mma_async": register fragments of m64nNk8; CUDA Driver API,
//          "CUtensorMapDataType"
#include "compute/gpu/cuda/matmul/rungs/r14_store.cuh"

namespace lab::cuda_matmul {

struct WgmmaTf32Rung {
  static constexpr CudaRung kRung{
      .name = "wgmma_tf32",
      .title = LAB_TEXT("Hopper: tf32 by wgmma"),
      .sentence =
          LAB_TEXT("The copy engine rounds operands to tf32 while it fills a stage. wgmma accepts "
                   "no transposed tf32 in shared memory, so blocks compute the transpose of C, "
                   "with B in registers."),
      .precision = Precision::TF32,
      .tiling = with_staging({.m = 256,
                              .n = 128,
                              .k = 32,
                              .thread_m = 16,
                              .thread_n = 8,
                              .stages = 4,
                              .blocks_per_sm = 1,
                              .producer_threads = 128,
                              .cluster = 2,
                              .beside = true,
                              .extra_bytes = kHopperAlignment}),
      .compute_major = 9,
      .exact_capability = true,
      .operands = Operands::VectorAligned,
      .persistent = true,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
namespace lab::cuda_matmul {

// A warpgroup computes 64 columns of C, a pair of its warps 32, the width of a box of B and of a
// staged piece of C, whose rows have 128 bytes. In both, the copy engine puts 16-byte chunk c of
// row r at chunk c ^ r % 8.
constexpr int kPairColumns = 32;
constexpr int kPieceRowsOfPair = 32;  // of C

// The two neighbouring columns of a lane. The chunks are such that no lanes of a half-warp meet in
// a bank, whether they load rows of B or store rows of C.
struct LaneColumns {
  int chunk;  // of the pair's 32 columns
  int past;   // bytes from the beginning of the chunk
  int quad;   // lane % 4

  // The first of the two columns, of the pair's.
  LAB_DEVICE int first() const { return chunk * 4 + past / 4; }
  // The bytes of both in row 8 * step + 4 * half + quad of a box of B.
  LAB_DEVICE int load_offset(int step, int half) const {
    const int row = 4 * half + quad;
    return (8 * step + row) * kRowBytes + (chunk ^ row) * 16 + past;
  }
  // The row of C, of eight, that a lane stores first or second.
  LAB_DEVICE int row(bool second) const { return 2 * quad + (second != (chunk >= 4)); }
  // The bytes of both columns in that row, of the eight from 8 * eighth on, of a staged piece.
  LAB_DEVICE int store_offset(int eighth, bool second) const {
    return (8 * eighth + row(second)) * kRowBytes + (chunk ^ row(second)) * 16 + past;
  }

 private:
  static constexpr int kRowBytes = 128;
};
// warp: of the warpgroup's four.
LAB_DEVICE LaneColumns lane_columns(int warp, int lane) {
  const int group = lane / 4;
  return {warp % 2 * 2 + group / 4 + group / 2 % 2 * 4, group % 2 * 8, lane % 4};
}

}  // namespace lab::cuda_matmul
#endif

#ifdef __CUDACC__
namespace lab::cuda_matmul {

// Layout of a stage: A's rows of 32 terms, then boxes of B [kTile.k terms, 32 columns] in order of
// their columns.
template <Tiling kTile>
struct Tf32Stage {
  static constexpr int kBytesOfA = kTile.m * hopper::kRowBytes;
  static constexpr int kBoxBytes = kTile.k * hopper::kRowBytes;
  static constexpr int kBoxes = kTile.n / kPairColumns;
  static_assert(kTile.m == hopper::kWgmmaN && kTile.k * int{sizeof(float)} == hopper::kRowBytes);
  static_assert(kBytesOfA + kBoxes * kBoxBytes == kTile.stage_bytes());
};

// The Team of kBlocks blocks that share A; see SharersOfB.
template <int kBlocks>
struct SharersOfA : SharersOfB<kBlocks> {
  using SharersOfB<kBlocks>::rank;
  template <Tiling kTile>
  LAB_DEVICE static void fill(unsigned char* stage, const CUtensorMap& a, const CUtensorMap& b,
                              const TileOrigin& tile, int term, hopper::Barrier* full) {
    using Stage = Tf32Stage<kTile>;
    constexpr int kRows = kTile.m / kBlocks;
    hopper::arrive_expecting(full, kTile.stage_bytes());
    hopper::copy_box_to(SharersOfB<kBlocks>::kAll, stage + rank() * kRows * hopper::kRowBytes, a,
                        term, tile.row + rank() * kRows, full);
    LAB_UNROLL
    for (int j = 0; j < Stage::kBoxes; ++j) {
      hopper::copy_box(stage + Stage::kBytesOfA + j * Stage::kBoxBytes, b,
                       tile.col + j * kPairColumns, term, full);
    }
  }
};

// The Product of tf32 operands, with one warpgroup per 64 columns of the tile: sums of C^T. While a
// step of 8 terms is multiplied, the registers of the step before it are loaded for the next stage.
template <Tiling kTile>
struct Tf32Product {
  using Ring = HopperRing<kTile>;
  using Stage = Tf32Stage<kTile>;
  static constexpr int kSteps = hopper::kRowBytes / hopper::kStepBytes;
  static_assert(kSteps == 4);

  template <class Team>
  LAB_DEVICE static void add(hopper::WgmmaSums& sums, Ring& ring, int stages, int group) {
    const LaneColumns columns = lane_columns(simt::warp() % 4, simt::lane());
    const int boxes = Stage::kBytesOfA + (group * 2 + simt::warp() % 4 / 2) * Stage::kBoxBytes;
    hopper::Tf32Rows rows[kSteps];
    const auto load = [&](const Ring& from, int step) {
      const std::uint32_t box = simt::shared_address(from.stage()) + boxes;
      LAB_UNROLL
      for (int half = 0; half < 2; ++half) {
        hopper::load_pair(box + columns.load_offset(step, half), rows[step][2 * half],
                          rows[step][2 * half + 1]);
      }
    };
    const auto multiply = [&](int step) {
      hopper::begin_group();
      hopper::multiply_registers_tf32(
          sums, rows[step],
          hopper::descriptor_rows(simt::shared_address(ring.stage()), step * hopper::kStepBytes));
      hopper::commit_group();
      hopper::wait_group<1>();  // the step before it
    };
    const auto multiply_first = [&](bool releases) {
      multiply(0);
      if (releases) Team::release(ring.last_empty());
      load(ring, 3);
      multiply(1);
    };
    hopper::wait<WaitFor::Full>(&ring.full[ring.slot], ring.parity);
    LAB_UNROLL
    for (int step = 0; step < kSteps - 1; ++step) load(ring, step);
    for (int t = 0; t < stages - 1; ++t) {
      multiply_first(t > 0);
      Ring next = ring;
      next.advance();
      hopper::wait<WaitFor::Full>(&next.full[next.slot], next.parity);
      load(next, 0);
      multiply(2);
      load(next, 1);
      multiply(3);
      load(next, 2);
      ring = next;
    }
    multiply_first(stages > 1);
    multiply(2);
    multiply(3);
    hopper::finish(sums);
    ring.advance();
    Team::release(ring.last_empty());
  }
};

// The Output of transposed sums, whose C is written by the copy engine.
template <Tiling kTile>
struct TransposedOutput {
  unsigned char* staging;  // of the block, aligned to hopper::kAtomBytes
  const CUtensorMap& c;

  LAB_DEVICE void write(const hopper::WgmmaSums& sums, const TileOrigin& tile, int group) const {
    constexpr int kBytes = kPieceRowsOfPair * hopper::kRowBytes;
    constexpr int kEighths = kPieceRowsOfPair / 8;
    static_assert(kCStagingBytes == kTile.n / kPairColumns * 2 * kBytes);
    const int pair = group * 2 + simt::warp() % 4 / 2;
    unsigned char* const buffers = staging + pair * 2 * kBytes;
    const bool orders = simt::thread_idx().x % 64 == 0;
    const LaneColumns columns = lane_columns(simt::warp() % 4, simt::lane());
    const bool odd_first = columns.row(false) % 2 == 1;
    LAB_UNROLL
    for (int piece = 0; piece < kTile.m / kPieceRowsOfPair; ++piece) {
      unsigned char* const buffer = buffers + piece % 2 * kBytes;
      if (orders) hopper::wait_stores_read<1>();  // the store before the latest has left it
      hopper::sync_warp_pair(pair);
      LAB_UNROLL
      for (int eighth = 0; eighth < kEighths; ++eighth) {
        const auto& of = sums[piece * kEighths + eighth];
        LAB_UNROLL
        for (const bool second : {false, true}) {
          const bool odd = second != odd_first;
          hopper::store_pair(simt::shared_address(buffer) + columns.store_offset(eighth, second),
                             odd ? of[1] : of[0], odd ? of[3] : of[2]);
        }
      }
      hopper::publish_stores();
      hopper::sync_warp_pair(pair);
      if (!orders) continue;
      hopper::store_box(c, buffer, tile.col + pair * kPairColumns,
                        tile.row + piece * kPieceRowsOfPair);
      hopper::commit_stores();
    }
  }
  // Called by every consumer at its end.
  LAB_DEVICE void finish() const { hopper::wait_stores(); }
};

// Launch geometry as for ring_product(), in clusters of kTile.cluster blocks.
template <Tiling kTile>
LAB_DEVICE void multiply(WgmmaTf32Rung, const HopperMaps& maps, const MatmulArgs& args) {
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  const TransposedOutput<kTile> output{
      hopper::first_stage(shared) + kTile.stages * kTile.stage_bytes(), maps.c};
  ring_product<kTile, Tf32Product<kTile>, SharersOfA<kTile.cluster>>(maps, args, output);
}

}  // namespace lab::cuda_matmul
#endif
