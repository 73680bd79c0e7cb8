#pragma once
// Shared by the Hopper rungs: a stage filled by the copy engine and multiplied by a warpgroup, and
// a ring of stages between a producer warpgroup that issues copies and the consumers that multiply.
#include "compute/gpu/cuda/matmul/rungs/hopper.cuh"
#include "compute/gpu/cuda/matmul/rungs/tiles.cuh"

namespace lab::cuda_matmul::hopper {

constexpr int kWarpgroup = 128;  // threads
static_assert(kCPieceColumns * sizeof(float) == kRowBytes && kCPieceRows == kWgmmaM);
static_assert(kHopperAlignment == kAtomBytes);

// Layout of a stage: A's box [kTile.m, 64 terms], then boxes of B [kTile.k terms, 64 columns] in
// order of their columns.
template <Tiling kTile>
struct Stage {
  static constexpr int kBytesOfA = kTile.m * kRowBytes;
  static constexpr int kBoxBytes = kTile.k * kRowBytes;
  static constexpr int kBoxes = kTile.n / kBoxColumns;
  static_assert(kTile.k == kBoxColumns && kTile.n == kWgmmaN && kTile.m % kWgmmaM == 0);
  static_assert(kBytesOfA + kBoxes * kBoxBytes == kTile.stage_bytes());
};

// The first aligned address for boxes in dynamic shared memory; Tiling::extra_bytes includes the
// padding.
LAB_DEVICE unsigned char* first_stage(unsigned char* shared) {
  const std::uint32_t past = simt::shared_address(shared) % kAtomBytes;
  return past == 0 ? shared : shared + (kAtomBytes - past);
}

// Called by one thread: starts copying the terms beginning at `term`; completion ends the phase of
// `full`.
template <Tiling kTile>
LAB_DEVICE void fill_stage(unsigned char* stage, const CUtensorMap& a, const CUtensorMap& b,
                           const TileOrigin& tile, int term, Barrier* full) {
  arrive_expecting(full, kTile.stage_bytes());
  copy_box(stage, a, term, tile.row, full);
  LAB_UNROLL
  for (int j = 0; j < Stage<kTile>::kBoxes; ++j) {
    copy_box(stage + Stage<kTile>::kBytesOfA + j * Stage<kTile>::kBoxBytes, b,
             tile.col + j * kBoxColumns, term, full);
  }
}

// Queues sums += A*B of a stage, with rows 64*group to 64*group + 63 of A, as one group.
template <Tiling kTile>
LAB_DEVICE void multiply_stage(WgmmaSums& sums, unsigned char* stage, int group) {
  const std::uint32_t a = simt::shared_address(stage) + group * kWgmmaM * kRowBytes;
  const std::uint32_t b = simt::shared_address(stage) + Stage<kTile>::kBytesOfA;
  begin_group();
  LAB_UNROLL
  for (int term = 0; term < kTile.k; term += kWgmmaK) {
    multiply_async(sums, descriptor_rows(a, term / kWgmmaK * kStepBytes),
                   descriptor_columns(b, term, Stage<kTile>::kBoxBytes));
  }
  commit_group();
}

// N is a multiple of a whole piece (is_vector_aligned), so a pair of columns is never split by the
// edge.
LAB_DEVICE void write_sums(const WgmmaSums& sums, const Bf16MatmulArgs& args,
                           const TileOrigin& tile, int group) {
  const int lane = simt::lane();
  const int first = tile.row + group * kWgmmaM + simt::warp() % 4 * 16 + lane / 4;
  const int col = tile.col + lane % 4 * 2;
  LAB_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = first + 8 * half;
    if (row >= args.m) continue;
    float* c = args.c + row * args.ldc;
    LAB_UNROLL
    for (int j = 0; j < kWgmmaN / 8; ++j) {
      if (col + 8 * j >= args.n) continue;
      simt::store(c + col + 8 * j, simt::Float2{sums[j][2 * half], sums[j][2 * half + 1]});
    }
  }
}

}  // namespace lab::cuda_matmul::hopper

namespace lab::cuda_matmul {

// Where the copy engine finds the operands and the result.
struct HopperMaps {
  CUtensorMap a, b, c;
};

// The Output of rungs whose threads write their own sums.
struct DirectOutput {
  const Bf16MatmulArgs& args;

  LAB_DEVICE void write(const hopper::WgmmaSums& sums, const TileOrigin& tile, int group) const {
    hopper::write_sums(sums, args, tile, group);
  }
  LAB_DEVICE void finish() const {}
};

// A ring of stages. `full` completes a phase when a stage's boxes have arrived, `empty` when all
// its readers are done.
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
  // The `empty` barrier of the slot before `slot`.
  LAB_DEVICE hopper::Barrier* last_empty() const {
    return &empty[slot == 0 ? kTile.stages - 1 : slot - 1];
  }
};

// The Product of bf16 operands, with one warpgroup per 64 rows of the tile.
template <Tiling kTile>
struct Bf16Product {
  template <class Team>
  LAB_DEVICE static void add(hopper::WgmmaSums& sums, HopperRing<kTile>& ring, int stages,
                             int group) {
    for (int t = 0; t < stages; ++t) {
      hopper::wait<WaitFor::Full>(&ring.full[ring.slot], ring.parity);
      hopper::multiply_stage<kTile>(sums, ring.stage(), group);
      hopper::wait_group<1>();  // the stage before this one has been read
      if (t > 0) Team::release(ring.last_empty());
      ring.advance();
    }
    hopper::finish(sums);
    Team::release(ring.last_empty());
  }
};

// block [kTile.threads()]: the producer, then the consumer warpgroups; grid: one block per tile, or
// fewer blocks that compute several tiles each; kTile.shared_bytes() of dynamic shared memory.
// Team defines the cooperation of blocks:
//   Team::kReaders           number of blocks whose consumers read a stage that this block fills
//   Team::rank()             rank of this block in its cluster
//   Team::sync()             barrier for all threads of these blocks
//   Team::meet()             the same, ordering no memory accesses but published barriers
//   Team::fill<kTile>(stage, a, b, tile, term, full)   called by one thread: fills the stage of
//                            the terms beginning at `term`; other blocks may copy parts of it
//   Team::release(empty)     called by a consumer warp that has read the stage
// Product how a consumer warpgroup computes its sums of a tile:
//   Product::add<Team>(sums, ring, stages, group)      sums += the products of the next stages of
//                            the ring, at least one, each released when it has been read
// and `output` how it writes them:
//   output.write(sums, tile, group)
//   output.finish()          called by each of its threads at the end
template <Tiling kTile, class Product, class Team, class Args, class Output>
LAB_DEVICE void ring_product(const HopperMaps& maps, const Args& args, const Output& output) {
  using Ring = HopperRing<kTile>;
  constexpr int kBandRows = 2048;
  __shared__ hopper::Barrier full[kTile.stages];
  __shared__ hopper::Barrier empty[kTile.stages];
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  Ring ring{hopper::first_stage(shared), full, empty};
  const int m = int(args.m), n = int(args.n);
  const int stages = (int(args.k) + kTile.k - 1) / kTile.k;
  if (simt::thread_idx().x == 0) {
    for (int s = 0; s < kTile.stages; ++s) {
      hopper::init(&full[s], 1);
      hopper::init(&empty[s], Team::kReaders * Ring::kConsumerWarps);
    }
    hopper::publish_barriers();
    hopper::prefetch(maps.a);
    hopper::prefetch(maps.b);
  }
  Team::meet();
  if (simt::thread_idx().x < kTile.producer_threads) {
    hopper::dealloc_registers<40>();
    if (simt::thread_idx().x == 0) {
      for_assigned_tiles<kTile, kBandRows>(m, n, Team::rank(), [&](const TileOrigin& tile) {
        for (int t = 0; t < stages; ++t) {
          hopper::wait<WaitFor::Empty>(&empty[ring.slot], ring.parity ^ 1);  // initially free
          Team::template fill<kTile>(ring.stage(), maps.a, maps.b, tile, t * kTile.k,
                                     &full[ring.slot]);
          ring.advance();
        }
      });
    }
    simt::sync_warp();
  } else {
    hopper::alloc_registers<232>();
    const int group = (simt::thread_idx().x - kTile.producer_threads) / hopper::kWarpgroup;
    for_assigned_tiles<kTile, kBandRows>(m, n, Team::rank(), [&](const TileOrigin& tile) {
      hopper::WgmmaSums sums = {};
      Product::template add<Team>(sums, ring, stages, group);
      output.write(sums, tile, group);
    });
    output.finish();
  }
  if constexpr (Team::kReaders > 1) Team::sync();  // other blocks may still use its barriers
}

}  // namespace lab::cuda_matmul
