#pragma once
// The largest magnitude of many numbers, as bits, which are in the order of the magnitudes; a NaN
// is above infinity.
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda {

LAB_DEVICE std::uint32_t magnitude_bits(float x) {
  return simt::bits_of(x) & 0x7fffffffU;
}
LAB_DEVICE std::uint32_t larger(std::uint32_t a, std::uint32_t b) {
  return a > b ? a : b;
}

// The largest of all threads of a block, for every thread; called once by all of them.
template <int kThreads>
LAB_DEVICE std::uint32_t block_largest(std::uint32_t mine) {
  LAB_SHARED(std::uint32_t, of_warps, kThreads / 32);
  mine = simt::warp_max(mine);
  if (simt::lane() == 0) of_warps[simt::warp()] = mine;
  simt::sync_threads();
  LAB_UNROLL
  for (int w = 0; w < kThreads / 32; ++w) {
    const std::uint32_t other = of_warps[w];
    mine = larger(mine, other);
  }
  return mine;
}

}  // namespace lab::cuda
