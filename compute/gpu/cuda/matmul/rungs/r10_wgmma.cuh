#pragma once
// C = A*B, bf16 operands, FP32 accumulation: boxes copied by the copy engine (TMA), multiplied by
// wgmma.
//   A [M,K]  B [K,N] bf16 bits  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     wgmma reads its operands directly from shared memory, without registers or ldmatrix, and
//          one thread requests whole boxes from the copy engine, which swizzles them. Only wgmma
//          reaches the full rate of Hopper's tensor cores.
// Work     2*M*N*K FLOP; 85 FLOP per byte of global memory
// Limits   M,N >= 0, K > 0; pointers 16-byte aligned, lda, ldb and N multiples of 8, ldc of 4;
//          compute capability 9.0 only (sm_90a). Runs on a GPU only, not in the emulator
// Numerics as the mma.sync rung for bf16
// Source   PTX ISA, "wgmma.mma_async", "cp.async.bulk.tensor", "mbarrier"
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct WgmmaRung {
  static constexpr CudaRung kRung{
      .name = "wgmma",
      .title = LAB_TEXT("Hopper: TMA and wgmma"),
      .sentence =
          LAB_TEXT("One thread issues TMA copies that fill whole stages, and a warpgroup "
                   "multiplies directly from shared memory: the full rate of the tensor cores."),
      .precision = Precision::BF16,
      .tiling = {.m = 128,
                 .n = 256,
                 .k = 64,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 4,
                 .element_bytes = 2,
                 .blocks_per_sm = 1,
                 .extra_bytes = kHopperAlignment},
      .compute_major = 9,
      .exact_capability = true,
      .operands = Operands::VectorAligned,
  };
};

}  // namespace lab::cuda_matmul

#ifdef __CUDACC__
#include "compute/gpu/cuda/matmul/rungs/hopper_stage.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()]: one warpgroup per 64 rows; grid: tiles of C; kTile.shared_bytes() of
// dynamic shared memory
template <Tiling kTile>
LAB_DEVICE void multiply(WgmmaRung, const HopperMaps& maps, const Bf16MatmulArgs& args) {
  __shared__ hopper::Barrier full[kTile.stages];
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  unsigned char* const stages = hopper::first_stage(shared);
  const auto tile = tile_origin<kTile, 16>(int(args.m), int(args.n));
  const int tiles = (int(args.k) + kTile.k - 1) / kTile.k;
  const int group = simt::thread_idx().x / hopper::kWarpgroup;
  const bool orders = simt::thread_idx().x == 0;
  const auto fill = [&](int t) {
    const int slot = t % kTile.stages;
    hopper::fill_stage<kTile>(stages + slot * kTile.stage_bytes(), maps.a, maps.b, tile,
                              t * kTile.k, &full[slot]);
  };
  if (orders) {
    for (int s = 0; s < kTile.stages; ++s) hopper::init(&full[s], 1);
    hopper::publish_barriers();
  }
  simt::sync_threads();
  if (orders) {
    for (int t = 0; t < kTile.stages - 1 && t < tiles; ++t) fill(t);
  }
  hopper::WgmmaSums sums = {};
  for (int t = 0; t < tiles; ++t) {
    const int slot = t % kTile.stages;
    hopper::wait<WaitFor::Full>(&full[slot], t / kTile.stages % 2);
    hopper::multiply_stage<kTile>(sums, stages + slot * kTile.stage_bytes(), group);
    hopper::wait_group<1>();
    simt::sync_threads();  // all warpgroups have read the stage of tile t - 1
    if (orders && t + kTile.stages - 1 < tiles) fill(t + kTile.stages - 1);
  }
  hopper::finish(sums);
  hopper::write_sums(sums, args, tile, group);
}

}  // namespace lab::cuda_matmul
#endif
