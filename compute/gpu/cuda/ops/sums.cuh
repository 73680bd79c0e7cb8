#pragma once
// The kernel bodies of sums.cu: z = x + y in blocks of kAddThreads threads in x, and the sum of
// squares in blocks of kNormThreads.
#include <cstdint>

#include "compute/gpu/cuda/ops/elements.cuh"

namespace lab::cuda {

inline constexpr int kAddThreads = 256;
inline constexpr int kAddPerThread = 4;
inline constexpr std::int64_t kAddPerBlock = std::int64_t{kAddThreads} * kAddPerThread;

template <typename T>
struct AddArgs {
  const T* x = nullptr;  // [count]
  const T* y = nullptr;  // [count]
  T* z = nullptr;        // [count]
  std::int64_t count = 0;
};

// One block adds kAddPerBlock elements; neighbouring threads add neighbouring elements. Each thread
// has kAddPerThread elements in flight.
template <typename T>
LAB_DEVICE void add_body(AddArgs<T> args) {
  const auto x = simt::global(args.x);
  const auto y = simt::global(args.y);
  const auto z = simt::global(args.z);
  const std::int64_t begin = simt::block_idx().x * kAddPerBlock + simt::thread_idx().x;
  T sums[kAddPerThread];
  LAB_UNROLL
  for (int k = 0; k < kAddPerThread; ++k) {
    const std::int64_t i = begin + k * kAddThreads;
    if (i < args.count) sums[k] = sum_of<T>(x[i], y[i]);
  }
  LAB_UNROLL
  for (int k = 0; k < kAddPerThread; ++k) {
    const std::int64_t i = begin + k * kAddThreads;
    if (i < args.count) z[i] = sums[k];
  }
}

inline std::int64_t add_blocks(std::int64_t count) {
  return (count + kAddPerBlock - 1) / kAddPerBlock;
}

// Launch geometry of the sum of squares.
inline constexpr int kNormThreads = 256;
inline constexpr int kNormBlocks = 1024;  // upper limit; a power of two, like kNormThreads

// The sum over the block; valid in thread 0 only.
LAB_DEVICE double block_sum(double mine) {
  LAB_SHARED(double, sums, kNormThreads);
  const int t = simt::thread_idx().x;
  sums[t] = mine;
  for (int half = kNormThreads / 2; half > 0; half /= 2) {
    simt::sync_threads();
    if (t < half) sums[t] = sums[t] + sums[t + half];
  }
  const double total = sums[t];
  return total;
}

template <typename T>
struct SquaresArgs {
  const T* x = nullptr;    // [count]
  double* sums = nullptr;  // [grid]
  std::int64_t count = 0;
};

// sums[block] = sum of squares over the block's threads, each of which takes every (grid *
// kNormThreads)-th element from its own index on.
template <typename T>
LAB_DEVICE void squares_body(SquaresArgs<T> args) {
  const auto x = simt::global(args.x);
  const std::int64_t stride = std::int64_t{kNormThreads} * simt::grid_dim().x;
  double sum = 0;
  for (std::int64_t i = std::int64_t{kNormThreads} * simt::block_idx().x + simt::thread_idx().x;
       i < args.count; i += stride) {
    const double value = as_double<T>(x[i]);
    sum += value * value;
  }
  const double total = block_sum(sum);
  if (simt::thread_idx().x == 0) simt::global(args.sums)[simt::block_idx().x] = total;
}

struct TotalArgs {
  double* sums = nullptr;  // [count]; the total replaces the first
  int count = 0;           // at most kNormBlocks
};

// Launched as one block.
LAB_DEVICE void total_body(TotalArgs args) {
  const auto sums = simt::global(args.sums);
  double sum = 0;
  for (int i = simt::thread_idx().x; i < args.count; i += kNormThreads) sum += sums[i];
  const double total = block_sum(sum);
  if (simt::thread_idx().x == 0) sums[0] = total;
}

// Grid size for `count` elements: every thread gets one element before any gets two.
inline int norm_blocks(std::int64_t count) {
  const std::int64_t needed = (count + kNormThreads - 1) / kNormThreads;
  return needed < kNormBlocks ? static_cast<int>(needed) : kNormBlocks;
}

}  // namespace lab::cuda
