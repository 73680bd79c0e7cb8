#pragma once
// C = A*B, bf16 factors, FP32 sums: boxes by the copy engine (TMA), products by wgmma.
//   A [M,K]  B [K,N] bits of bf16  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     a warpgroup's instruction reads its operands from shared memory itself, so no register
//          and no ldmatrix stands between, and one thread orders whole boxes from the copy engine,
//          which swizzles them. Only this reaches the full rate of Hopper's tensor cores.
// Work     2*M*N*K FLOP; 85 FLOP a byte of global memory
// Limits   M,N >= 0, K > 0; pointers 16-byte aligned, lda, ldb and N multiples of 8, ldc of 4;
//          compute capability 9.0 alone (sm_90a). Compiled; no GPU and no emulator has run it
// Numerics as the mma.sync rung for bf16
// Source   PTX ISA, "wgmma.mma_async", "cp.async.bulk.tensor", "mbarrier"
#include "compute/gpu/cuda/matmul/hopper_stage.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()]: a warpgroup for each 64 rows; grid: tiles of C; kTile.shared_bytes() of
// dynamic shared memory
template <Tiling kTile>
LAB_DEVICE void wgmma_body(const CUtensorMap& a, const CUtensorMap& b, const Bf16MatmulArgs& args) {
  __shared__ hopper::Barrier full[kTile.stages];
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  unsigned char* const stages = hopper::first_stage(shared);
  const auto tile = tile_origin<kTile, 16>(int(args.m), int(args.n));
  const int tiles = (int(args.k) + kTile.k - 1) / kTile.k;
  const int group = simt::thread_idx().x / hopper::kWarpgroup;
  const bool orders = simt::thread_idx().x == 0;
  const auto fill = [&](int t) {
    const int slot = t % kTile.stages;
    hopper::fill_stage<kTile>(stages + slot * kTile.stage_bytes(), a, b, tile, t * kTile.k,
                              &full[slot]);
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
    hopper::wait(&full[slot], t / kTile.stages % 2);
    hopper::multiply_stage<kTile>(sums, stages + slot * kTile.stage_bytes(), group);
    hopper::wait_group<1>();
    simt::sync_threads();  // no warpgroup reads the stage of tile t - 1 any more
    if (orders && t + kTile.stages - 1 < tiles) fill(t + kTile.stages - 1);
  }
  hopper::finish(sums);
  hopper::write_sums(sums, args, tile, group);
}

}  // namespace lab::cuda_matmul
