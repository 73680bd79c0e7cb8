#pragma once
// Operands of convolutions by wgmma, of 16 bits per element, to which FP32 arrays are rounded.
//
// bf16   bits of bf16, also of an array that has them already
// tf32   FP16, because wgmma has no tf32 for operands whose rows are neighbours in memory, as those
//        of the weight gradient are. FP16 has as many significant bits, 11, at twice the rate, but
//        a smaller range: each array is multiplied by the power of two that brings its largest
//        magnitude to 2^14 .. 2^15, and a product is divided by those of its two operands.
//        Elements of at least 2^-28 of the largest are rounded to 11 significant bits, smaller ones
//        to a multiple of at most 2^-38 of it. Below a largest magnitude of 2^-86 the steps no
//        longer shrink; if one element is not finite, the others become 0
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/kernel/wgmma.h"
#include "compute/gpu/cuda/layers/columns.cuh"
#include "compute/gpu/cuda/layers/largest.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

constexpr bool is_scaled(Precision precision) {
  return precision == Precision::TF32;
}
// Calls work.operator()<is_scaled(precision)>().
template <class Work>
void with_scaled(Precision precision, const Work& work) {
  is_scaled(precision) ? work.template operator()<true>() : work.template operator()<false>();
}
constexpr simt::Element16 element_of(bool scaled) {
  return scaled ? simt::Element16::Fp16 : simt::Element16::Bf16;
}

// An operand's array.
struct Rounded {
  const std::uint16_t* elements;  // bits of bf16 or, scaled, of FP16
  const std::uint32_t* largest;   // of FP16: the bits of the largest magnitude before scaling
};

// The scale of FP16 elements as the exponent of two, -114 to 100.
LAB_DEVICE int scale_of(std::uint32_t largest) {
  constexpr int kTarget = 14, kMost = 100;
  const int scale = kTarget - (static_cast<int>(largest >> 23) - 127);
  return scale < kMost ? scale : kMost;
}
// 2^exponent, -126 to 127.
LAB_DEVICE float power_of_two(int exponent) {
  return simt::float_of(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// Divides sums by the scales of A and B, in two steps, because their product may exceed the range.
template <int kEighths>
LAB_DEVICE void unscale(float (&sums)[kEighths][4], const Rounded& a, const Rounded& b) {
  const int exponent = -scale_of(simt::load_readonly<std::uint32_t>(a.largest)) -
                       scale_of(simt::load_readonly<std::uint32_t>(b.largest));
  const float first = power_of_two(exponent / 2), second = power_of_two(exponent - exponent / 2);
  LAB_UNROLL
  for (int j = 0; j < kEighths; ++j) {
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) sums[j][i] = sums[j][i] * first * second;
  }
}

// ---- Rounding

// The largest magnitude of each block's part of an array, as bits. The first blocks take the last
// parts, as in batch norm.
struct LargestKernel {
  struct Args {
    const float* from;
    std::uint32_t* largest;  // [blocks]
    std::int64_t fours, fours_per_block;
  };
  static constexpr const char* kName = "largest magnitude";
  static constexpr int kThreads = 512;
  static constexpr int kMostBlocks = 256;

  static LAB_DEVICE void run(const Args& args) {
    const int block = simt::grid_dim().x - 1 - simt::block_idx().x;
    const std::int64_t begin = block * args.fours_per_block;
    const std::int64_t end = begin + args.fours_per_block;
    const std::int64_t last = end < args.fours ? end : args.fours;
    std::uint32_t most = 0;
    LAB_UNROLL_BY(4)
    for (std::int64_t at = begin + simt::thread_idx().x; at < last; at += kThreads) {
      const auto four = simt::load_readonly<simt::Float4>(args.from + 4 * at);
      for (const float x : {four.x, four.y, four.z, four.w}) most = larger(most, magnitude_bits(x));
    }
    most = block_largest<kThreads>(most);
    if (simt::thread_idx().x == 0) simt::global(args.largest)[simt::block_idx().x] = most;
  }
};

// Rounds 8 elements per thread to bf16 or, scaled, to FP16. The first blocks take the last
// elements, except after LargestKernel.
template <bool kScaled>
struct RoundKernel {
  struct Args {
    const float* from;
    std::uint16_t* to;
    std::int64_t eighths;
    bool last_first;
    // For FP16: largest magnitudes of all parts of the array, at most kThreads; and of the array,
    // which is written.
    const std::uint32_t* parts;
    int part_count;
    std::uint32_t* largest;
  };
  static constexpr const char* kName = "rounding of operands";
  static constexpr int kThreads = 256;
  static_assert(LargestKernel::kMostBlocks <= kThreads);

  static LAB_DEVICE void run(const Args& args) {
    const int first = simt::block_idx().x, last = simt::grid_dim().x - 1 - first;
    const std::int64_t at =
        std::int64_t{args.last_first ? last : first} * kThreads + simt::thread_idx().x;
    float scale = 1;
    if constexpr (kScaled) scale = power_of_two(scale_of(largest_of(args)));
    if (at >= args.eighths) return;
    float values[8];
    read_columns(values, simt::global(args.from) + 8 * at);
    std::uint32_t pairs[4];
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float low = values[2 * i], high = values[2 * i + 1];
      pairs[i] = kScaled ? simt::pack_fp16(low * scale, high * scale) : simt::pack_bf16(low, high);
    }
    simt::store(args.to + 8 * at, simt::Uint4{pairs[0], pairs[1], pairs[2], pairs[3]});
  }

 private:
  static LAB_DEVICE std::uint32_t largest_of(const Args& args) {
    const int t = simt::thread_idx().x;
    std::uint32_t most = 0;
    if (t < args.part_count) most = simt::global(args.parts)[t];
    most = block_largest<kThreads>(most);
    if (simt::block_idx().x == 0 && t == 0) simt::global(args.largest)[0] = most;
    return most;
  }
};

// A rounded array in memory: its elements, then what is known of the largest.
struct RoundedArray {
  std::int64_t elements = 0;
  bool scaled = false;

  std::int64_t bytes() const { return largest() + (scaled ? kAlignment + parts_bytes() : 0); }
  Rounded at(std::byte* memory) const {
    return {reinterpret_cast<const std::uint16_t*>(memory),
            reinterpret_cast<const std::uint32_t*>(memory + largest())};
  }
  // Offsets in bytes.
  std::int64_t largest() const { return (elements * 2 + kAlignment - 1) / kAlignment * kAlignment; }
  std::int64_t parts() const { return largest() + kAlignment; }

 private:
  static constexpr std::int64_t kAlignment = 256;
  static constexpr std::int64_t parts_bytes() {
    return LargestKernel::kMostBlocks * static_cast<std::int64_t>(sizeof(std::uint32_t));
  }
};

template <class Launcher>
void round_to_bf16(Launcher& launcher, const float* from, std::uint16_t* to, std::int64_t count,
                   GpuStream& stream) {
  const std::int64_t eighths = count / 8;
  launcher.template launch<RoundKernel<false>>(
      {.x = tiles_of(eighths, RoundKernel<false>::kThreads)},
      {from, to, eighths, true, nullptr, 0, nullptr}, stream);
}

// Rounds `from` to the array in memory from `to` on. known_largest: the bits of the largest
// magnitude, if known.
template <class Launcher>
Rounded round_to(Launcher& launcher, const float* from, const std::uint32_t* known_largest,
                 const RoundedArray& array, std::byte* to, GpuStream& stream) {
  auto* elements = reinterpret_cast<std::uint16_t*>(to);
  if (!array.scaled) {
    round_to_bf16(launcher, from, elements, array.elements, stream);
    return array.at(to);
  }
  auto* largest = reinterpret_cast<std::uint32_t*>(to + array.largest());
  const std::uint32_t* parts = known_largest;
  int part_count = 1;
  if (known_largest == nullptr) {
    auto* found = reinterpret_cast<std::uint32_t*>(to + array.parts());
    constexpr std::int64_t kFewestFours = 4 * LargestKernel::kThreads;  // per block
    const std::int64_t fours = array.elements / 4;
    const int most = std::min(tiles_of(fours, kFewestFours), LargestKernel::kMostBlocks);
    const std::int64_t per_block = tiles_of(fours, most);
    part_count = tiles_of(fours, per_block);
    launcher.template launch<LargestKernel>({.x = part_count}, {from, found, fours, per_block},
                                            stream);
    parts = found;
  }
  const std::int64_t eighths = array.elements / 8;
  launcher.template launch<RoundKernel<true>>(
      {.x = tiles_of(eighths, RoundKernel<true>::kThreads)},
      {from, elements, eighths, known_largest != nullptr, parts, part_count, largest}, stream);
  return array.at(to);
}

}  // namespace lab::cuda
