#pragma once
// Arguments and bodies of the kernels for transfer measurements. A word is 4 bytes. Blocks have
// kTransferThreads threads in x; gate and chase run as one block of one thread.
//
// Work     copy: one read and one write per word; fill: one write; mismatches: one read; chase:
//          `hops` dependent reads by one thread; work: 64 FLOP per thread and round; gate: polls a
//          word in host memory until it is set, sleeping in between
// Limits   words, hops, rounds >= 0; at least one block
// Numerics words are moved and compared bit by bit
// Source   method: NVIDIA nvbandwidth
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/gpu_transfers.h"

namespace lab::cuda {

struct GateArgs {
  std::uint32_t* timed_out = nullptr;  // pinned; set to 1 on timeout
  std::int64_t max_polls = 0;
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
  std::uint64_t* count = nullptr;  // [1], incremented
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

// 16-byte loads in flight per thread.
inline constexpr int kCopyInFlight = 4;
// Dependent multiply-adds per thread and round.
inline constexpr int kWorkSteps = 32;

LAB_DEVICE std::int64_t grid_thread() {
  return std::int64_t{kTransferThreads} * simt::block_idx().x + simt::thread_idx().x;
}
LAB_DEVICE std::int64_t grid_threads() {
  return std::int64_t{kTransferThreads} * simt::grid_dim().x;
}

// Returns once `is_open()` is true. After max_polls polls, sets timed_out and returns.
template <typename IsOpen>
LAB_DEVICE void gate_body(GateArgs args, IsOpen is_open) {
  for (std::int64_t polls = 0; polls < args.max_polls; ++polls) {
    if (is_open()) return;
  }
  simt::global(args.timed_out)[0] = 1U;
}

// Neighbouring threads move neighbouring 16-byte pieces; the remaining words are moved one per
// thread.
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

// One atomic addition per warp that found mismatches.
LAB_DEVICE void mismatches_body(MismatchArgs args) {
  const auto at = simt::global(args.at);
  std::uint32_t wrong = 0;
  for (std::int64_t i = grid_thread(); i < args.words; i += grid_threads()) {
    const std::uint32_t word = at[i];
    if (word != pattern_word(i, args.seed)) ++wrong;
  }
  const std::uint32_t warp_total = simt::warp_sum(wrong);
  if (simt::lane() == 0 && warp_total != 0) {
    simt::atomic_add(simt::global(args.count), std::uint64_t{warp_total});
  }
}

// Each read depends on the one before, which supplies its address.
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

// x -> x/2 + 1 converges to 2. Every thread runs the same iteration from its own start value.
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
