#include "compute/kernels/ops/direct_convolution_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/ops/direct_convolution_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace lab::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kMaxImageLanes>;
using V = hn::Vec<D>;
constexpr int kLanes = hn::MaxLanes(D());

// A tile of weights: output channels x taps.
struct SumTile {
  int out, taps;
};

// A tile of accumulators, the vectors of one side and one vector of the other must fit in the 32
// (AVX-512, AArch64) or 16 available registers. Without FMA, where each product takes a register,
// tiles of 6x2 are slower than those of 4x3.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kMaxPixels = 5;
constexpr int kRegisters = 32;
constexpr SumTile kWideTile{6, 4}, kLongTile{4, 6};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr int kMaxPixels = 2;
constexpr int kRegisters = 16;
constexpr SumTile kWideTile{6, 2}, kLongTile{4, 3};
#else
constexpr int kMaxPixels = 2;
constexpr int kRegisters = 16;
constexpr SumTile kWideTile{4, 3}, kLongTile{4, 3};
#endif
constexpr int kMaxOut = 6;  // output channels per tile of pixels

// Part `index` of n items that are divided as evenly as possible into the fewest groups of at most
// `most`.
struct Group {
  std::int64_t begin, size;
};
constexpr std::int64_t group_count(std::int64_t n, std::int64_t most) {
  return (n + most - 1) / most;
}
constexpr Group group_of(std::int64_t n, std::int64_t groups, std::int64_t index) {
  const std::int64_t begin = n * index / groups;
  return {begin, n * (index + 1) / groups - begin};
}

// Distances in floats.
struct PixelTile {
  const float* in;
  std::int64_t in_row, in_pixel;
  std::int64_t rows, taps;
  const float* weights;
  std::int64_t weight_row;
  const float* bias;
  float* out;
  std::int64_t out_pixel;
};

template <int kOut, int kPixels>
void CorrelateTile(const PixelTile& tile) {
  const D d;
  V sum[kOut][kPixels];
#pragma GCC unroll 8
  for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 8
    for (int q = 0; q < kPixels; ++q) {
      sum[o][q] = tile.bias == nullptr ? hn::Zero(d) : hn::Set(d, tile.bias[o]);
    }
  }
  for (std::int64_t ky = 0; ky < tile.rows; ++ky) {
    const float* HWY_RESTRICT in = tile.in + ky * tile.in_row;
    const float* HWY_RESTRICT w = tile.weights + ky * tile.weight_row;
    for (std::int64_t t = 0; t < tile.taps; ++t, in += kLanes, w += kOut) {
      V x[kPixels];
#pragma GCC unroll 8
      for (int q = 0; q < kPixels; ++q) x[q] = hn::Load(d, in + q * tile.in_pixel);
#pragma GCC unroll 8
      for (int o = 0; o < kOut; ++o) {
        const V weight = hn::Set(d, w[o]);
#pragma GCC unroll 8
        for (int q = 0; q < kPixels; ++q) sum[o][q] = hn::MulAdd(weight, x[q], sum[o][q]);
      }
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < kPixels; ++q) {
#pragma GCC unroll 8
    for (int o = 0; o < kOut; ++o) {
      hn::Store(sum[o][q], d, tile.out + q * tile.out_pixel + o * kLanes);
    }
  }
}

using PixelTileFunction = void (*)(const PixelTile&);

template <int kOut, int kPixels>
constexpr PixelTileFunction CorrelateTileOrNone() {
  if constexpr (kOut * kPixels + kPixels + 1 <= kRegisters) {
    return &CorrelateTile<kOut, kPixels>;
  } else {
    return nullptr;
  }
}

template <int... kIndex>
constexpr std::array<PixelTileFunction, sizeof...(kIndex)> CorrelateTiles(
    std::integer_sequence<int, kIndex...>) {
  return {CorrelateTileOrNone<kIndex / kMaxPixels + 1, kIndex % kMaxPixels + 1>()...};
}

// Returns the width of the widest tile that fits in the registers.
constexpr std::int64_t pixels_with(std::int64_t out_channels) {
  return std::min<std::int64_t>(kMaxPixels, (kRegisters - 1) / (out_channels + 1));
}

// Returns the kernel columns that cover an image column for at least one of pixels [first, last].
HWY_INLINE Group columns_met(const CorrelateRow& row, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = std::max<std::int64_t>(0, row.left - last * row.stride);
  const std::int64_t end = std::min(row.kernel, row.left + row.in_width - first * row.stride);
  return {begin, std::max<std::int64_t>(0, end - begin)};
}

void CorrelateChannels(const CorrelateRow& row, Group channels) {
  static constexpr auto kTiles =
      CorrelateTiles(std::make_integer_sequence<int, kMaxOut * kMaxPixels>());
  const std::int64_t row_taps = row.kernel * row.in_channels;
  const std::int64_t step = row.stride * row.in_channels * kLanes;
  const float* weights =
      row.weights + (channels.begin * row.kernel + row.first_ky * channels.size) * row_taps;
  const std::int64_t groups = group_count(row.out_width, pixels_with(channels.size));
  for (std::int64_t g = 0; g < groups; ++g) {
    const Group pixels = group_of(row.out_width, groups, g);
    const Group columns = columns_met(row, pixels.begin, pixels.begin + pixels.size - 1);
    const std::int64_t first_tap = columns.begin * row.in_channels;
    const PixelTile tile{
        .in = row.in.data + pixels.begin * step + first_tap * kLanes,
        .in_row = row.in.row_stride,
        .in_pixel = step,
        .rows = row.last_ky - row.first_ky,
        .taps = columns.size * row.in_channels,
        .weights = weights + first_tap * channels.size,
        .weight_row = row_taps * channels.size,
        .bias = row.bias == nullptr ? nullptr : row.bias + channels.begin,
        .out = row.out + (pixels.begin * row.out_channels + channels.begin) * kLanes,
        .out_pixel = row.out_channels * kLanes};
    kTiles[static_cast<std::size_t>((channels.size - 1) * kMaxPixels + pixels.size - 1)](tile);
  }
}

void CorrelateRowOf(const CorrelateRow& row) {
  const std::int64_t groups = group_count(row.out_channels, kMaxOut);
  for (std::int64_t g = 0; g < groups; ++g) {
    CorrelateChannels(row, group_of(row.out_channels, groups, g));
  }
}

void PackWeights(const DirectWeights& from, float* to) {
  const std::int64_t groups = group_count(from.out_channels, kMaxOut);
  const std::int64_t window = from.kernel * from.kernel;
  for (std::int64_t g = 0; g < groups; ++g) {
    const Group channels = group_of(from.out_channels, groups, g);
    for (std::int64_t k = 0; k < window; ++k) {
      const std::int64_t source = from.rotated ? window - 1 - k : k;
      const float* w = from.weights + source * from.tap_stride;
      for (std::int64_t i = 0; i < from.in_channels; ++i) {
        for (std::int64_t o = 0; o < channels.size; ++o) {
          *to++ = w[(channels.begin + o) * from.out_stride + i * from.in_stride];
        }
      }
    }
  }
}

// Distances in floats.
struct WeightTile {
  const float* x;
  std::int64_t x_row, x_pixel;
  const float* dy;
  std::int64_t dy_row, dy_pixel;
  std::int64_t rows, pixels;
  float* sums;
  std::int64_t sums_out;
};

template <int kOut, int kTaps>
void AddWeightTile(const WeightTile& tile) {
  const D d;
  V sum[kOut][kTaps];
#pragma GCC unroll 8
  for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 8
    for (int t = 0; t < kTaps; ++t) {
      sum[o][t] = hn::Load(d, tile.sums + o * tile.sums_out + t * kLanes);
    }
  }
  for (std::int64_t y = 0; y < tile.rows; ++y) {
    const float* HWY_RESTRICT in = tile.x + y * tile.x_row;
    const float* HWY_RESTRICT dy = tile.dy + y * tile.dy_row;
    for (std::int64_t q = 0; q < tile.pixels; ++q, in += tile.x_pixel, dy += tile.dy_pixel) {
      V x[kTaps];
#pragma GCC unroll 8
      for (int t = 0; t < kTaps; ++t) x[t] = hn::Load(d, in + t * kLanes);
#pragma GCC unroll 8
      for (int o = 0; o < kOut; ++o) {
        const V g = hn::Load(d, dy + o * kLanes);
#pragma GCC unroll 8
        for (int t = 0; t < kTaps; ++t) sum[o][t] = hn::MulAdd(g, x[t], sum[o][t]);
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 8
    for (int t = 0; t < kTaps; ++t) {
      hn::Store(sum[o][t], d, tile.sums + o * tile.sums_out + t * kLanes);
    }
  }
}

using WeightTileFunction = void (*)(const WeightTile&);

// The tile of o x t weights is at index (o - 1) * kLargest.taps + t - 1.
template <SumTile kLargest, int... kIndex>
constexpr std::array<WeightTileFunction, sizeof...(kIndex)> WeightTiles(
    std::integer_sequence<int, kIndex...>) {
  return {&AddWeightTile<kIndex / kLargest.taps + 1, kIndex % kLargest.taps + 1>...};
}

// The largest tile is a template argument because divisions by constants are much faster.
template <SumTile kLargest>
std::int64_t TileCount(const WeightSumsRows& rows) {
  return group_count(rows.last_out - rows.first_out, kLargest.out) *
         group_count(rows.taps, kLargest.taps);
}

template <SumTile kLargest>
void AddSumsByTiles(const WeightSumsRows& rows) {
  constexpr int kWeights = kLargest.out * kLargest.taps;
  static_assert(kWeights + kLargest.taps + 1 <= kRegisters);
  static constexpr auto kTiles = WeightTiles<kLargest>(std::make_integer_sequence<int, kWeights>());
  const std::int64_t channels = rows.last_out - rows.first_out;
  const std::int64_t out_groups = group_count(channels, kLargest.out);
  const std::int64_t tap_groups = group_count(rows.taps, kLargest.taps);
  for (std::int64_t g = 0; g < out_groups; ++g) {
    const Group out = group_of(channels, out_groups, g);
    for (std::int64_t k = 0; k < tap_groups; ++k) {
      const Group taps = group_of(rows.taps, tap_groups, k);
      const WeightTile tile{.x = rows.x + taps.begin * kLanes,
                            .x_row = rows.x_row * kLanes,
                            .x_pixel = rows.step * kLanes,
                            .dy = rows.dy + (rows.first_out + out.begin) * kLanes,
                            .dy_row = rows.out_width * rows.out_channels * kLanes,
                            .dy_pixel = rows.out_channels * kLanes,
                            .rows = rows.rows,
                            .pixels = rows.out_width,
                            .sums = rows.sums + (out.begin * rows.sum_stride + taps.begin) * kLanes,
                            .sums_out = rows.sum_stride * kLanes};
      kTiles[static_cast<std::size_t>((out.size - 1) * kLargest.taps + taps.size - 1)](tile);
    }
  }
}

void AddWeightSums(const WeightSumsRows& rows) {
  if (TileCount<kWideTile>(rows) <= TileCount<kLongTile>(rows)) {
    return AddSumsByTiles<kWideTile>(rows);
  }
  AddSumsByTiles<kLongTile>(rows);
}

void AddPixelSums(const float* block, std::int64_t pixels, std::int64_t channels, double* sums) {
  constexpr std::int64_t kPixels = 32;  // pixels summed in FP32
  const D d;
  const auto at = [&](std::int64_t pixel, std::int64_t c)
                      HWY_ATTR { return hn::Load(d, block + (pixel * channels + c) * kLanes); };
  for (std::int64_t p = 0; p < pixels; p += kPixels) {
    const std::int64_t end = std::min(pixels, p + kPixels);
    for (std::int64_t c = 0; c < channels; ++c) {
      V even = hn::Zero(d), odd = hn::Zero(d);
      std::int64_t q = p;
      for (; q + 4 <= end; q += 4) {  // four loads in flight
        even = hn::Add(even, hn::Add(at(q, c), at(q + 2, c)));
        odd = hn::Add(odd, hn::Add(at(q + 1, c), at(q + 3, c)));
      }
      for (; q < end; ++q) even = hn::Add(even, at(q, c));
      HWY_ALIGN float values[kLanes];
      hn::Store(hn::Add(even, odd), d, values);
      for (int i = 0; i < kLanes; ++i) sums[c * kLanes + i] += static_cast<double>(values[i]);
    }
  }
}

}  // namespace lab::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab::simd {

HWY_EXPORT(CorrelateRowOf);
HWY_EXPORT(PackWeights);
HWY_EXPORT(AddWeightSums);
HWY_EXPORT(AddPixelSums);

void correlate_row(const CorrelateRow& row) {
  HWY_DYNAMIC_DISPATCH(CorrelateRowOf)(row);
}

void pack_direct_weights(const DirectWeights& from, float* to) {
  HWY_DYNAMIC_DISPATCH(PackWeights)(from, to);
}

void add_weight_sums(const WeightSumsRows& rows) {
  HWY_DYNAMIC_DISPATCH(AddWeightSums)(rows);
}

void add_pixel_sums(const float* block, std::int64_t pixels, std::int64_t channels, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddPixelSums)(block, pixels, channels, sums);
}

}  // namespace lab::simd
#endif
