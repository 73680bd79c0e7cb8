#pragma once
// What the Hopper rungs with a producer share: a ring of stages between one warpgroup that orders
// copies and the warpgroups that multiply.
#include "compute/gpu/cuda/matmul/hopper_stage.cuh"

namespace lab::cuda_matmul {

// `full` once a stage's boxes are there, `empty` once all who read it have done so.
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
  // The one before `slot`.
  LAB_DEVICE hopper::Barrier* last_empty() const {
    return &empty[slot == 0 ? kTile.stages - 1 : slot - 1];
  }
};

// block [kTile.threads()]: the producer, then a warpgroup for each 64 rows; grid: a block for each
// tile, or fewer that take several each; kTile.shared_bytes() of dynamic shared memory. What blocks
// do together:
//   Team::kReaders           blocks whose consumers read a stage that this one fills
//   Team::rank()             of this block in its cluster
//   Team::meet()             waits for all threads of all of them
//   Team::fill<kTile>(stage, a, b, tile, term, full)   by one thread: the stage of the terms from
//                            `term` on, of which others may copy a part
//   Team::release(empty)     by a warp of a consumer: it has read the stage
template <Tiling kTile, class Team>
LAB_DEVICE void ring_product(const CUtensorMap& a, const CUtensorMap& b,
                             const Bf16MatmulArgs& args) {
  using Ring = HopperRing<kTile>;
  __shared__ hopper::Barrier full[kTile.stages];
  __shared__ hopper::Barrier empty[kTile.stages];
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  Ring ring{hopper::first_stage(shared), full, empty};
  const int m = int(args.m), n = int(args.n);
  const int tiles = (int(args.k) + kTile.k - 1) / kTile.k;
  if (simt::thread_idx().x == 0) {
    for (int s = 0; s < kTile.stages; ++s) {
      hopper::init(&full[s], 1);
      hopper::init(&empty[s], Team::kReaders * Ring::kConsumerWarps);
    }
    hopper::publish_barriers();
  }
  Team::meet();
  if (simt::thread_idx().x < kTile.producer_threads) {
    hopper::give_registers<40>();
    if (simt::thread_idx().x == 0) {
      for_my_tiles<kTile, 16>(m, n, Team::rank(), [&](const TileOrigin& tile) {
        for (int t = 0; t < tiles; ++t) {
          hopper::wait(&empty[ring.slot], ring.parity ^ 1);  // free at first
          Team::template fill<kTile>(ring.stage(), a, b, tile, t * kTile.k, &full[ring.slot]);
          ring.advance();
        }
      });
    }
    simt::sync_warp();
  } else {
    hopper::take_registers<232>();
    const int group = (simt::thread_idx().x - kTile.producer_threads) / hopper::kWarpgroup;
    for_my_tiles<kTile, 16>(m, n, Team::rank(), [&](const TileOrigin& tile) {
      hopper::WgmmaSums sums = {};
      for (int t = 0; t < tiles; ++t) {
        hopper::wait(&full[ring.slot], ring.parity);
        hopper::multiply_stage<kTile>(sums, ring.stage(), group);
        hopper::wait_group<1>();  // so the stage of tile t - 1 has been read
        if (t > 0) Team::release(ring.last_empty());
        ring.advance();
      }
      hopper::finish(sums);
      Team::release(ring.last_empty());
      hopper::write_sums(sums, args, tile, group);
    });
  }
  if constexpr (Team::kReaders > 1) Team::meet();  // till then others arrive at its barriers
}

}  // namespace lab::cuda_matmul
