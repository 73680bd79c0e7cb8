#pragma once
// The kernels that measure transfers: what they are given, and their bodies. Words are of four
// bytes. Blocks have kTransferThreads threads in x, those of gate and chase one thread and one
// block.
//
// Work     copy: one read and one write of each word; fill: one write; mismatches: one read;
//          chase: `hops` dependent reads by one thread; work: 64 FLOP per thread and round;
//          gate: reads a word of the host until it is set, sleeping in between
// Limits   words, hops, rounds >= 0; at least one block
// Numerics words are moved and compared bit by bit
// Source   method: NVIDIA nvbandwidth
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/gpu_transfers.h"

namespace lab::cuda {

struct GateArgs {
  std::uint32_t* gave_up = nullptr;  // pinned; set to 1 when nobody opened in time
  std::int64_t most_looks = 0;
};
struct WordCopyArgs {
  const std::uint32_t* from = nullptr;  // [words], 16-byte aligned
  std::uint32_t* to = nullptr;          // [words], 16-byte aligned
  std::int64_t words = 0;
};
struct PatternArgs {
  std::uint32_t* to = nullptr;  // [words]
  std::int64_t words = 0;
  std::uint32_t seed = 0;
};
struct MismatchArgs {
  const std::uint32_t* at = nullptr;  // [words]
  std::int64_t words = 0;
  std::uint32_t seed = 0;
  std::uint64_t* count = nullptr;  // [1], added to
};
struct ChaseArgs {
  const std::uint32_t* next = nullptr;  // a cycle of indices
  std::uint32_t* position = nullptr;    // [1], where the chase starts and ends
  std::int64_t hops = 0;
};
struct WorkArgs {
  float* sink = nullptr;  // [blocks * kTransferThreads]
  std::int64_t rounds = 0;
};

inline constexpr int kTransferThreads = 256;

// Loads of 16 bytes that one thread has under way at once.
inline constexpr int kCopyInFlight = 4;
// Dependent multiply-adds a thread and round.
inline constexpr int kWorkSteps = 32;

LAB_DEVICE std::int64_t grid_thread() {
  return std::int64_t{kTransferThreads} * simt::block_idx().x + simt::thread_idx().x;
}
LAB_DEVICE std::int64_t grid_threads() {
  return std::int64_t{kTransferThreads} * simt::grid_dim().x;
}

// Returns once `is_open()`, or after so many looks, with a note that it gave up.
template <typename Look>
LAB_DEVICE void gate_body(GateArgs args, Look is_open) {
  for (std::int64_t looks = 0; looks < args.most_looks; ++looks) {
    if (is_open()) return;
  }
  simt::global(args.gave_up)[0] = 1U;
}

// Neighbouring threads move neighbouring pieces of 16 bytes; what is left, one word a thread.
LAB_DEVICE void copy_body(WordCopyArgs args) {
  const auto from = simt::global(args.from);
  const auto to = simt::global(args.to);
  const std::int64_t quads = args.words / 4, stride = grid_threads();
  std::int64_t q = grid_thread();
  for (; q + (kCopyInFlight - 1) * stride < quads; q += kCopyInFlight * stride) {
    simt::Uint4 pieces[kCopyInFlight];
    LAB_UNROLL
    for (int k = 0; k < kCopyInFlight; ++k) {
      pieces[k] = simt::load<simt::Uint4>(from + 4 * (q + k * stride));
    }
    LAB_UNROLL
    for (int k = 0; k < kCopyInFlight; ++k) simt::store(to + 4 * (q + k * stride), pieces[k]);
  }
  for (; q < quads; q += stride) {
    simt::store(to + 4 * q, simt::load<simt::Uint4>(from + 4 * q));
  }
  const std::int64_t rest = 4 * quads + grid_thread();
  if (rest < args.words) {
    const std::uint32_t word = from[rest];
    to[rest] = word;
  }
}

LAB_DEVICE void fill_body(PatternArgs args) {
  const auto to = simt::global(args.to);
  for (std::int64_t i = grid_thread(); i < args.words; i += grid_threads()) {
    to[i] = pattern_word(i, args.seed);
  }
}

// One atomic addition a warp that found something.
LAB_DEVICE void mismatches_body(MismatchArgs args) {
  const auto at = simt::global(args.at);
  std::uint32_t wrong = 0;
  for (std::int64_t i = grid_thread(); i < args.words; i += grid_threads()) {
    const std::uint32_t word = at[i];
    if (word != pattern_word(i, args.seed)) ++wrong;
  }
  const std::uint32_t of_warp = simt::warp_sum(wrong);
  if (simt::lane() == 0 && of_warp != 0) {
    simt::atomic_add(simt::global(args.count), std::uint64_t{of_warp});
  }
}

// Each read waits for the one before, which tells it where to read.
LAB_DEVICE void chase_body(ChaseArgs args) {
  const auto next = simt::global(args.next);
  const auto position = simt::global(args.position);
  std::uint32_t at = position[0];
  for (std::int64_t hop = 0; hop < args.hops; ++hop) {
    const std::uint32_t following = next[at];
    at = following;
  }
  position[0] = at;
}

// x -> x/2 + 1 settles at 2; every thread computes the same from its own start.
LAB_DEVICE void work_body(WorkArgs args) {
  float x = static_cast<float>(simt::thread_idx().x);
  LAB_NO_UNROLL
  for (std::int64_t round = 0; round < args.rounds; ++round) {
    LAB_UNROLL
    for (int step = 0; step < kWorkSteps; ++step) x = simt::fma(x, 0.5F, 1.0F);
  }
  simt::global(args.sink)[grid_thread()] = x;
}

}  // namespace lab::cuda
