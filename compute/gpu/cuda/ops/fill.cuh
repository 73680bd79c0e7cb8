#pragma once
// The kernel bodies of fill.cu. Blocks have kFillThreads threads in x.
#include <array>
#include <cmath>

#include "compute/core/random_bits.h"
#include "compute/gpu/cuda/ops/elements.cuh"

namespace lab::cuda {

inline constexpr int kFillThreads = 256;
inline constexpr int kFillPerThread = 4;
inline constexpr std::int64_t kFillPerBlock = std::int64_t{kFillThreads} * kFillPerThread;

// T: the unsigned integer with the element's size.
template <typename T>
struct ConstantArgs {
  T value{};
  T* to = nullptr;  // [count]
  std::int64_t count = 0;
};

// One block writes kFillPerBlock elements; neighbouring threads write neighbouring elements.
template <typename T>
LAB_DEVICE void constant_body(ConstantArgs<T> args) {
  const auto to = simt::global(args.to);
  const std::int64_t begin = simt::block_idx().x * kFillPerBlock + simt::thread_idx().x;
  LAB_UNROLL
  for (int k = 0; k < kFillPerThread; ++k) {
    const std::int64_t i = begin + k * kFillThreads;
    if (i < args.count) to[i] = args.value;
  }
}

// T: the element type; Bf16Bits for bf16.
template <typename T>
struct ArangeArgs {
  T* to = nullptr;  // [count]
  std::int64_t first = 0;
  std::int64_t count = 0;
};

template <typename T>
LAB_DEVICE void arange_body(ArangeArgs<T> args) {
  const auto to = simt::global(args.to);
  const std::int64_t begin = simt::block_idx().x * kFillPerBlock + simt::thread_idx().x;
  LAB_UNROLL
  for (int k = 0; k < kFillPerThread; ++k) {
    const std::int64_t i = begin + k * kFillThreads;
    if (i < args.count) to[i] = element_of_index<T>(args.first + i);
  }
}

// T: float or Bf16Bits.
template <typename T>
struct RandomArgs {
  T* to = nullptr;  // [count]
  std::uint64_t seed = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool whole_stores = false;  // the four values of a Philox block may be stored at once
};

// The random numbers of compute/tensor/random.h, four at a time, bit-identical to the CPU's.
using PhiloxBlock = std::array<std::uint32_t, 4>;

// Block `index` of stream 0.
LAB_DEVICE PhiloxBlock philox(std::uint64_t seed, std::uint64_t index) {
  return random::stream_block(seed, 0, index);
}

struct FourValues {
  float v[4];
};

LAB_DEVICE FourValues four_uniform(const PhiloxBlock& b) {
  return {{random::uniform_of(b[0]), random::uniform_of(b[1]), random::uniform_of(b[2]),
           random::uniform_of(b[3])}};
}

// Two Box-Muller pairs.
LAB_DEVICE FourValues four_normal(const PhiloxBlock& b) {
  const float r0 = sqrtf(random::squared_radius(b[0]));
  const float r1 = sqrtf(random::squared_radius(b[2]));
  const random::Turn t0 = random::turn_of(b[1]);
  const random::Turn t1 = random::turn_of(b[3]);
  return {{r0 * t0.cosine, r0 * t0.sine, r1 * t1.cosine, r1 * t1.sine}};
}

template <typename T>
LAB_DEVICE void store_four(simt::GlobalPtr<T> to, const FourValues& four) {
  if constexpr (sizeof(T) == sizeof(float)) {
    simt::store(to, simt::Float4{four.v[0], four.v[1], four.v[2], four.v[3]});
  } else {
    simt::store(to, simt::Uint2{simt::pack_bf16(four.v[0], four.v[1]),
                                simt::pack_bf16(four.v[2], four.v[3])});
  }
}

// Each thread computes the four values of one Philox block and stores those inside the range.
template <typename T, bool kNormal>
LAB_DEVICE void random_body(RandomArgs<T> args) {
  const auto to = simt::global(args.to);
  const std::int64_t block =
      args.first / 4 + simt::block_idx().x * std::int64_t{kFillThreads} + simt::thread_idx().x;
  const std::int64_t at = block * 4 - args.first;  // of the block's first value; may be negative
  if (at >= args.count) return;
  const PhiloxBlock bits = philox(args.seed, static_cast<std::uint64_t>(block));
  const FourValues four = kNormal ? four_normal(bits) : four_uniform(bits);
  if (args.whole_stores && at >= 0 && at + 4 <= args.count) return store_four<T>(to + at, four);
  LAB_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (at + k >= 0 && at + k < args.count) to[at + k] = element_of_float<T>(four.v[k]);
  }
}

// Grid sizes for `count` elements from `first` on.
inline std::int64_t fill_blocks(std::int64_t count) {
  return (count + kFillPerBlock - 1) / kFillPerBlock;
}
inline std::int64_t random_blocks(std::int64_t first, std::int64_t count) {
  const std::int64_t philox_blocks = (first % 4 + count + 3) / 4;
  return (philox_blocks + kFillThreads - 1) / kFillThreads;
}

}  // namespace lab::cuda
