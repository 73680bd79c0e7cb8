#pragma once
// How each rung of the CUDA ladder cuts a product: fixed at compile time, known to host and device.
#include <cstdint>

namespace lab {

// A block computes a tile m x n of C; every thread has thread_m x thread_n elements of it in
// registers. A and B pass through shared memory in tiles of k terms, `stages` of them at once
// (0: no shared memory).
struct Tiling {
  int m = 1, n = 1, k = 1;
  int thread_m = 1, thread_n = 1;
  int stages = 0;
  int element_bytes = 4;
  int pad = 0;               // numbers added to each column of A's tile where it lies transposed
  int straight_steps = 8;    // terms that the async rung multiplies in one piece of straight code
  int blocks_per_sm = 1;     // that registers must leave room for
  int producer_threads = 0;  // that order copies and compute nothing
  int cluster = 1;           // blocks, one below the other in C, that share what they copy
  int extra_bytes = 0;       // of shared memory beside the stages

  constexpr int threads() const { return (m / thread_m) * (n / thread_n) + producer_threads; }
  constexpr int stage_bytes() const { return ((m + pad) * k + k * n) * element_bytes; }
  constexpr int shared_bytes() const { return stages * stage_bytes() + extra_bytes; }
  constexpr Tiling with_producer(int its_threads) const {
    Tiling tiling = *this;
    tiling.producer_threads = its_threads;
    return tiling;
  }
  constexpr Tiling with_cluster(int blocks) const {
    Tiling tiling = *this;
    tiling.cluster = blocks;
    return tiling;
  }
  // The tile that a cluster computes.
  constexpr Tiling of_cluster() const {
    Tiling tiling = *this;
    tiling.m *= cluster;
    return tiling;
  }
};

// Tiles that cover C.
constexpr std::int64_t tiles_of(const Tiling& tiling, std::int64_t m, std::int64_t n) {
  return ((m + tiling.m - 1) / tiling.m) * ((n + tiling.n - 1) / tiling.n);
}

// Blocks of a launch with one for each tile: whole clusters.
constexpr std::int64_t blocks_of(const Tiling& tiling, std::int64_t m, std::int64_t n) {
  return tiles_of(tiling.of_cluster(), m, n) * tiling.cluster;
}

// As a constant, which device code can use without calling a host function.
template <Tiling kTile>
inline constexpr int kThreads = kTile.threads();

// A thread an element of C; in a warp, lanes lie along the longer side of this tile.
inline constexpr Tiling kNaiveTiling{.m = 32, .n = 8};
inline constexpr Tiling kCoalescedTiling{.m = 8, .n = 32};
inline constexpr Tiling kSharedTiling{.m = 32, .n = 32, .k = 32, .stages = 1};
inline constexpr Tiling kColumnTiling{.m = 64, .n = 64, .k = 8, .thread_m = 8, .stages = 1};
inline constexpr Tiling kSquareTiling{
    .m = 128, .n = 128, .k = 8, .thread_m = 8, .thread_n = 8, .stages = 1};
inline constexpr Tiling kVectorTiling{
    .m = 128, .n = 128, .k = 8, .thread_m = 8, .thread_n = 8, .stages = 1, .pad = 4};

// From here on a warp has a tile of its own: 8 lanes down, 4 lanes across.
inline constexpr Tiling kWarpTiling{
    .m = 128, .n = 128, .k = 16, .thread_m = 8, .thread_n = 16, .stages = 1, .pad = 4};
inline constexpr Tiling kAsyncTiling{
    .m = 128, .n = 128, .k = 16, .thread_m = 8, .thread_n = 16, .stages = 4, .blocks_per_sm = 2};
inline constexpr Tiling kTf32Tiling = kAsyncTiling;
inline constexpr Tiling kBf16Tiling{
    .m = 128, .n = 256, .k = 32, .thread_m = 8, .thread_n = 16, .stages = 4, .element_bytes = 2};
// Stages begin at multiples of 1024 bytes, wherever shared memory itself begins.
inline constexpr Tiling kWgmmaTiling{.m = 128,
                                     .n = 256,
                                     .k = 64,
                                     .thread_m = 8,
                                     .thread_n = 16,
                                     .stages = 4,
                                     .element_bytes = 2,
                                     .extra_bytes = 1024};
inline constexpr Tiling kProducerTiling = kWgmmaTiling.with_producer(128);
inline constexpr Tiling kPersistentTiling = kProducerTiling;
inline constexpr Tiling kClusterTiling = kPersistentTiling.with_cluster(2);

}  // namespace lab
