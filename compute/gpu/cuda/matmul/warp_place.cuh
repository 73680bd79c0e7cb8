#pragma once
// Where warps and their lanes stand in a block's tile of C.
#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/matmul/tiling.h"

namespace lab::cuda_matmul {

constexpr int kLanesDown = 8;
constexpr int kLanesAcross = 4;

template <Tiling kTile>
struct WarpTile {
  static constexpr int kM = kLanesDown * kTile.thread_m;
  static constexpr int kN = kLanesAcross * kTile.thread_n;
  static constexpr int kAcross = kTile.n / kN;  // warps in a row of the block
  static_assert(kTile.m % kM == 0 && kTile.n % kN == 0);
};

struct LanePlace {
  int down, across;  // 0..7, 0..3
};

// Lanes i and i^1 share a row of lanes, i and i^2 a column: the pairs for which a 16-byte load of
// equal addresses by half a warp takes one pass over the banks, for A as for B.
LAB_DEVICE LanePlace lane_place() {
  const int lane = simt::lane();
  return {lane / 2 % kLanesDown, lane % 2 + lane / 16 * 2};
}

}  // namespace lab::cuda_matmul
