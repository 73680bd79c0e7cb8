#pragma once
// The body of add.cu. Blocks have kAddThreads threads in x.
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

// One block adds kAddPerBlock elements, neighbours by neighbouring threads; four of each thread are
// under way at once.
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

}  // namespace lab::cuda
