#pragma once
// C = A*B, bf16 factors, FP32 sums: the wgmma rung with a warpgroup that only orders copies, and
// blocks that stay for many tiles.
//   A [M,K]  B [K,N] bits of bf16  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     producer and consumers: one warpgroup orders boxes as soon as their stage is free, two
//          multiply and never meet at a block's barrier; it gives its registers to them. The grid
//          is persistent: while a tile's sums are written, boxes of the next are on their way.
// Work     2*M*N*K FLOP; 85 FLOP a byte of global memory
// Limits   as the wgmma rung. Compiled; no card and no emulator has run it
// Numerics as the mma.sync rung for bf16
// Source   CUTLASS, "Efficient GEMM in CUDA": warp specialisation; PTX ISA, "setmaxnreg"
#include "compute/cuda/matmul/hopper_stage.cuh"

namespace lab::cuda_matmul {

// The ring of stages: `full` once its boxes are there, `empty` once all consumers have read them.
template <Tiling kTile>
struct HopperRing {
  static constexpr int kConsumerWarps = (kTile.threads() - kTile.producer_threads) / 32;
  unsigned char* stages;
  hopper::Barrier* full;
  hopper::Barrier* empty;
  int slot = 0;
  int parity = 0;

  LAB_DEVICE unsigned char* stage() const { return stages + slot * kTile.stage_bytes(); }
  LAB_DEVICE void advance() {
    if (++slot == kTile.stages) {
      slot = 0;
      parity ^= 1;
    }
  }
};

// Calls work(tile) for each tile of this block.
template <Tiling kTile, class Work>
LAB_DEVICE void for_my_tiles(const Bf16MatmulArgs& args, const Work& work) {
  const int m = int(args.m), n = int(args.n);
  const int count = ((m + kTile.m - 1) / kTile.m) * ((n + kTile.n - 1) / kTile.n);
  for (int i = simt::block_idx().x; i < count; i += simt::grid_dim().x) {
    work(tile_at<kTile, 16>(i, m, n));
  }
}

// block [kTile.threads()]: the producer, then a warpgroup for each 64 rows; grid: as many blocks as
// run at once; kTile.shared_bytes() of dynamic shared memory
template <Tiling kTile>
LAB_DEVICE void persistent_body(const CUtensorMap& a, const CUtensorMap& b,
                                const Bf16MatmulArgs& args) {
  using Ring = HopperRing<kTile>;
  __shared__ hopper::Barrier full[kTile.stages];
  __shared__ hopper::Barrier empty[kTile.stages];
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  Ring ring{hopper::first_stage(shared), full, empty};
  const int tiles = (int(args.k) + kTile.k - 1) / kTile.k;
  if (simt::thread_idx().x == 0) {
    for (int s = 0; s < kTile.stages; ++s) {
      hopper::init(&full[s], 1);
      hopper::init(&empty[s], Ring::kConsumerWarps);
    }
    hopper::publish_barriers();
  }
  simt::sync_threads();
  if (simt::thread_idx().x < kTile.producer_threads) {
    hopper::give_registers<40>();
    if (simt::thread_idx().x == 0) {
      for_my_tiles<kTile>(args, [&](const TileOrigin& tile) {
        for (int t = 0; t < tiles; ++t) {
          hopper::wait(&empty[ring.slot], ring.parity ^ 1);  // free at first
          hopper::fill_stage<kTile>(ring.stage(), a, b, tile, t * kTile.k, &full[ring.slot]);
          ring.advance();
        }
      });
    }
  } else {
    hopper::take_registers<232>();
    const int group = (simt::thread_idx().x - kTile.producer_threads) / hopper::kWarpgroup;
    for_my_tiles<kTile>(args, [&](const TileOrigin& tile) {
      hopper::WgmmaSums sums = {};
      for (int t = 0; t < tiles; ++t) {
        hopper::wait(&full[ring.slot], ring.parity);
        hopper::multiply_stage<kTile>(sums, ring.stage(), group);
        hopper::wait_group<1>();  // so the stage of tile t - 1 has been read
        const int before = ring.slot == 0 ? kTile.stages - 1 : ring.slot - 1;
        if (t > 0 && simt::lane() == 0) hopper::arrive(&empty[before]);
        ring.advance();
      }
      hopper::wait_group<0>();
      const int last = ring.slot == 0 ? kTile.stages - 1 : ring.slot - 1;
      if (simt::lane() == 0) hopper::arrive(&empty[last]);
      hopper::write_sums(sums, args, tile, group);
    });
  }
}

}  // namespace lab::cuda_matmul
