#pragma once
// What the Hopper rungs share: a stage filled by the copy engine, multiplied by a warpgroup.
#include "compute/gpu/cuda/matmul/hopper.cuh"
#include "compute/gpu/cuda/matmul/matmul_args.h"
#include "compute/gpu/cuda/matmul/raster.cuh"
#include "compute/gpu/cuda/matmul/wgmma.cuh"

namespace lab::cuda_matmul::hopper {

constexpr int kWarpgroup = 128;  // threads

// A stage: A's box [kTile.m, 64 terms], then boxes of B [kTile.k terms, 64 columns], side by side.
template <Tiling kTile>
struct Stage {
  static constexpr int kBytesOfA = kTile.m * kRowBytes;
  static constexpr int kBoxBytes = kTile.k * kRowBytes;
  static constexpr int kBoxes = kTile.n / kBoxColumns;
  static_assert(kTile.k == kBoxColumns && kTile.n == kWgmmaN && kTile.m % kWgmmaM == 0);
  static_assert(kBytesOfA + kBoxes * kBoxBytes == kTile.stage_bytes());
};

// The dynamic shared memory from where boxes may begin; Tiling::extra_bytes leaves room for it.
LAB_DEVICE unsigned char* first_stage(unsigned char* shared) {
  const std::uint32_t past = simt::shared_address(shared) % kAtomBytes;
  return past == 0 ? shared : shared + (kAtomBytes - past);
}

// One thread: starts the copies of the terms from `term` on, which end the phase of `full`.
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

// Queues sums += rows 64*group.. of the stage's A times its B, as one group.
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

// C's columns are whole pieces (in_whole_pieces), so pairs are inside or outside.
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
