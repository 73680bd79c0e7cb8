#pragma once
// C = A*B, bf16 operands, FP32 accumulation: the persistent rung with clusters of blocks that share
// B.
//   A [M,K]  B [K,N] bf16 bits  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     TMA multicast: two blocks, one tile below the other, need the same boxes of B; each
//          copies half of them into the shared memory of both. A stage is free once the consumers
//          of both blocks have read it, and full once both halves of B and the block's own A have
//          arrived.
// Work     2*M*N*K FLOP. A stage is 4.2 MFLOP, 1024 tensor core clocks, and reads 16 KiB of A and
//          half of 32 KiB of B from L2: 128 FLOP per byte, 32 bytes per clock and SM instead of the
//          48 that limit the persistent rung. Remaining limits: writing C's 4*M*N bytes, 128 KiB
//          per tile after its K/64 stages, during which the tensor cores idle except for the stages
//          by which one warpgroup lags the other; the last wave of tiles, 97 % full at 4096 and
//          8192 with 132 SMs; and power
// Limits   as the wgmma rung; a cluster of two SMs. Runs on a GPU only, not in the
//          emulator, except for its tile order
// Numerics as the mma.sync rung for bf16
// Source   PTX ISA, "cp.async.bulk.tensor": multicast::cluster, "mbarrier.arrive": shared::cluster,
//          "mapa", "barrier.cluster"; CUDA C++ Programming Guide, "Thread Block Clusters"
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct ClusterRung {
  static constexpr CudaRung kRung{
      .name = "wgmma_cluster",
      .title = LAB_TEXT("Hopper: clusters share B"),
      .sentence =
          LAB_TEXT("Two blocks, one above the other in C, run as a cluster: each multicasts half "
                   "of the shared tile of B to both, which loads a third fewer bytes from L2."),
      .precision = Precision::BF16,
      .tiling = {.m = 128,
                 .n = 256,
                 .k = 64,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 4,
                 .element_bytes = 2,
                 .blocks_per_sm = 1,
                 .producer_threads = 128,
                 .cluster = 2,
                 .extra_bytes = kHopperAlignment},
      .compute_major = 9,
      .exact_capability = true,
      .operands = Operands::VectorAligned,
      .persistent = true,
  };
};

}  // namespace lab::cuda_matmul

#ifdef __CUDACC__
#include "compute/gpu/cuda/matmul/rungs/hopper_stage.cuh"

namespace lab::cuda_matmul {

// The Team of kBlocks blocks that share B.
//
// A block's boxes may arrive before its own producer has set the expected byte count: the phase
// cannot end before that, and the pending count may be negative until then. Boxes never arrive
// before the phase begins: the sender has waited until this block's consumers have read the stage's
// previous contents, which they did after the previous phase ended.
template <int kBlocks>
struct SharersOfB {
  static constexpr int kReaders = kBlocks;
  static constexpr int kAll = (1 << kBlocks) - 1;
  LAB_DEVICE static int rank() { return hopper::cluster_rank(); }
  LAB_DEVICE static void sync() { hopper::sync_cluster(); }
  LAB_DEVICE static void meet() { hopper::meet_cluster(); }
  template <Tiling kTile>
  LAB_DEVICE static void fill(unsigned char* stage, const CUtensorMap& a, const CUtensorMap& b,
                              const TileOrigin& tile, int term, hopper::Barrier* full) {
    using Stage = hopper::Stage<kTile>;
    static_assert(Stage::kBoxes % kBlocks == 0);
    constexpr int kShare = Stage::kBoxes / kBlocks;
    hopper::arrive_expecting(full, kTile.stage_bytes());
    hopper::copy_box(stage, a, term, tile.row, full);
    LAB_UNROLL
    for (int i = 0; i < kShare; ++i) {
      const int j = rank() * kShare + i;
      hopper::copy_box_to(kAll, stage + Stage::kBytesOfA + j * Stage::kBoxBytes, b,
                          tile.col + j * hopper::kBoxColumns, term, full);
    }
  }
  LAB_DEVICE static void release(hopper::Barrier* empty) {
    if (simt::lane() < kBlocks) hopper::arrive_at(empty, simt::lane());
  }
};

// Launch geometry as for ring_product(), in clusters of kTile.cluster blocks.
template <Tiling kTile>
LAB_DEVICE void multiply(ClusterRung, const HopperMaps& maps, const Bf16MatmulArgs& args) {
  ring_product<kTile, Bf16Product<kTile>, SharersOfB<kTile.cluster>>(maps, args,
                                                                     DirectOutput{args});
}

}  // namespace lab::cuda_matmul
#endif
