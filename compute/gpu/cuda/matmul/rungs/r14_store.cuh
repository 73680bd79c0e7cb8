#pragma once
// C = A*B, bf16 operands, FP32 accumulation: the cluster rung with C written by the copy engine.
//   A [M,K]  B [K,N] bf16 bits  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     TMA stores: the sums of a warpgroup pass through two buffers of 64 rows and 32 columns
//          in shared memory, which the copy engine writes to C in rows of 128 bytes while the next
//          buffer is filled and the next tile is multiplied. It clips C's edges, so that no store
//          is masked, and C is marked as the first data that L2 may evict
// Work     as the cluster rung. Per tile, 128 KiB pass through shared memory at up to 128 bytes per
//          clock, 1024 clocks against 1024 per stage of products; a warp's 8-byte stores to a
//          buffer meet in no bank, because the lanes of odd rows write their columns in another
//          order
// Limits   as the wgmma rung. Runs on a GPU only, not in the emulator, except for its
//          tile order and the order of its stores
// Numerics as the mma.sync rung for bf16
// Source   PTX ISA, "cp.async.bulk.tensor": bulk_group, L2::cache_hint, "createpolicy",
//          "Swizzling Modes"
#include "compute/gpu/cuda/matmul/rungs/r13_cluster.cuh"

namespace lab::cuda_matmul {

constexpr Tiling with_staging(Tiling tiling) {
  tiling.extra_bytes += kCStagingBytes;
  return tiling;
}

struct StoreRung {
  static constexpr CudaRung kRung{
      .name = "wgmma_store",
      .title = LAB_TEXT("Hopper: C by the copy engine"),
      .sentence =
          LAB_TEXT("Results pass through shared memory, from which the copy engine writes whole "
                   "rows of C while the tensor cores multiply the next tile."),
      .precision = Precision::BF16,
      .tiling = with_staging(ClusterRung::kRung.tiling),
      .compute_major = 9,
      .exact_capability = true,
      .operands = Operands::VectorAligned,
      .persistent = true,
  };
};

}  // namespace lab::cuda_matmul

#ifdef __CUDACC__
namespace lab::cuda_matmul {

// The Output of a rung whose C is written by the copy engine.
template <Tiling kTile>
struct StagedOutput {
  unsigned char* staging;  // of the block, aligned to hopper::kAtomBytes
  const CUtensorMap& c;

  LAB_DEVICE void write(const hopper::WgmmaSums& sums, const TileOrigin& tile, int group) const {
    unsigned char* const buffers = staging + group * 2 * kCPieceBytes;
    const bool orders = simt::thread_idx().x % hopper::kWarpgroup == 0;
    const StagedPlace place = staged_place(simt::warp() % 4, simt::lane());
    LAB_UNROLL
    for (int piece = 0; piece < hopper::kWgmmaN / kCPieceColumns; ++piece) {
      unsigned char* const buffer = buffers + piece % 2 * kCPieceBytes;
      if (orders) hopper::wait_stores_read<1>();  // the store before the latest has left it
      hopper::sync_warpgroup(group);
      LAB_UNROLL
      for (int half = 0; half < 2; ++half) {
        LAB_UNROLL
        for (int i = 0; i < kCPieceColumns / 8; ++i) {
          const auto& even = sums[piece * 4 + i];
          const auto& odd = sums[piece * 4 + (i ^ 2)];
          hopper::store_pair(simt::shared_address(buffer) + place.offset(half, i),
                             place.odd ? odd[2 * half] : even[2 * half],
                             place.odd ? odd[2 * half + 1] : even[2 * half + 1]);
        }
      }
      hopper::publish_stores();
      hopper::sync_warpgroup(group);
      if (!orders) continue;
      hopper::store_box(c, buffer, tile.col + piece * kCPieceColumns,
                        tile.row + group * hopper::kWgmmaM);
      hopper::commit_stores();
    }
  }
  // Called by every consumer at its end.
  LAB_DEVICE void finish() const { hopper::wait_stores(); }
};

// Launch geometry as for ring_product(), in clusters of kTile.cluster blocks.
template <Tiling kTile>
LAB_DEVICE void multiply(StoreRung, const HopperMaps& maps, const Bf16MatmulArgs& args) {
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  const StagedOutput<kTile> output{hopper::first_stage(shared) + kTile.stages * kTile.stage_bytes(),
                                   maps.c};
  ring_product<kTile, Bf16Product<kTile>, SharersOfB<kTile.cluster>>(maps, args, output);
}

}  // namespace lab::cuda_matmul
#endif
