#pragma once
// Launches the passes of a convolution (passes.cuh). A linear layer is the case of one pixel and
// one tap.
//   x [images, in_h, in_w, in_c]   weight [out_c, kernel, kernel, in_c]
//   y [images, out_h, out_w, out_c]
//
// Limits   at most 2^31 - 1 elements per array, sides of at most GpuConvolution::kMaxSide. Accesses
//          of 16 bytes if in_c and out_c are multiples of 4 and all arrays are 16-byte aligned,
//          otherwise element by element
// Numerics operands rounded to the precision, FP32 accumulation in the order of the terms; the
//          weight gradient adds its splits in FP64
// Work     2 * pixels of y * out_c * kernel^2 * in_c FLOP per pass. The 3x3 convolutions of
//          ResNet-18 at batch 256, each of the three passes, against an H100 with 3.35 TB/s, 67
//          TFLOP/s in FP32, 495 in tf32 and 989 in bf16 (ridges: 20, 148, 295 FLOP per byte):
//
//            channels  pixels   C of forward   GFLOP   MB   FLOP/B   fp32    tf32   bf16
//                  64  200704   200704 x  64    14.8  103      144   221 us  31 us  31 us
//                 128   50176    50176 x 128    14.8   52      285   221     30     16
//                 256   12544    12544 x 256    14.8   28      528   221     30     15
//                 512    4096     4096 x 512    19.3   26      737   288     39     20
//
//          Memory limits tf32 with 64 channels, and bf16 with 64 and 128.
//          A step has 700 GFLOP in convolutions: 10.4 ms in FP32, 1.5 ms in tf32. FP32 is bound by
//          its FMA units: 82 % of the instructions of the large tile's loop are FMAs. These kernels
//          feed the tensor cores from FP32 arrays through registers, so shared memory is their
//          limit (wgmma_convolution.cuh has faster ones for compute capability 9.0): a 128x128 tile
//          moves 64 KB through it for every 16 (tf32) or 80 KB for every 32 (bf16) terms, 512 and
//          640 clocks for 256 clocks of multiplication at the full rate
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/core/dtype.h"
#include "compute/gpu/cuda/layers/columns.cuh"
#include "compute/gpu/cuda/layers/convolution/passes.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// ---- Tiles

// 128x128 and 128x64 for products that fill a GPU with such tiles, then 64x64, 128x16 for few
// columns, and 32x16 for what fills a GPU with none of them. The last three have few blocks, which
// wait for memory rather than for each other: they take more terms at a time.
using LargeSimt =
    SimtTile<Tiling{.m = 128, .n = 128, .k = 8, .thread_m = 8, .thread_n = 8, .blocks_per_sm = 2}>;
using MediumSimt =
    SimtTile<Tiling{.m = 128, .n = 64, .k = 8, .thread_m = 8, .thread_n = 8, .blocks_per_sm = 3}>;
using SmallSimt =
    SimtTile<Tiling{.m = 64, .n = 64, .k = 32, .thread_m = 4, .thread_n = 8, .blocks_per_sm = 4}>;
using NarrowSimt =
    SimtTile<Tiling{.m = 128, .n = 16, .k = 32, .thread_m = 4, .thread_n = 4, .blocks_per_sm = 4}>;
using TinySimt =
    SimtTile<Tiling{.m = 32, .n = 16, .k = 32, .thread_m = 4, .thread_n = 4, .blocks_per_sm = 12}>;

inline constexpr Tiling kLargeTensor{
    .m = 128, .n = 128, .thread_m = 8, .thread_n = 16, .blocks_per_sm = 2};
inline constexpr Tiling kMediumTensor{
    .m = 128, .n = 64, .thread_m = 8, .thread_n = 8, .blocks_per_sm = 3};
inline constexpr Tiling kSmallTensor{
    .m = 64, .n = 64, .thread_m = 4, .thread_n = 8, .blocks_per_sm = 4};

enum class TileSize { Large, Medium, Small, Narrow, Tiny };

// C [m, n], computed `depth` times at once. Tensor cores have no tiles below Small.
inline TileSize tile_size(Precision precision, std::int64_t m, std::int64_t n, int depth) {
  constexpr int kBlocks = 128;  // about one per SM
  const auto fills = [&](int tile_m, int tile_n) {
    return std::int64_t{tiles_of(m, tile_m)} * tiles_of(n, tile_n) * depth >= kBlocks;
  };
  if (precision == Precision::F32) {
    if (m <= TinySimt::kM) return TileSize::Tiny;
    if (n <= NarrowSimt::kN) return fills(128, 16) ? TileSize::Narrow : TileSize::Tiny;
  }
  if (n > 64 && fills(128, 128)) return TileSize::Large;
  if (fills(128, 64)) return TileSize::Medium;
  return fills(64, 64) || precision != Precision::F32 ? TileSize::Small : TileSize::Tiny;
}

template <class Tile>
int tiles_of_product(std::int64_t m, std::int64_t n) {
  return tiles_of(m, Tile::kM) * tiles_of(n, Tile::kN);
}

// Launches Kernel<Tile, kWide> for the tile that fits C [m, n]; grid.z is `depth`.
template <template <class, bool> class Kernel, class Launcher, class Args>
class ProductLaunch {
 public:
  Launcher& launcher;
  const Args& args;
  std::int64_t m, n;
  int depth;
  GpuStream& stream;

  void run(Precision precision, TileSize size, bool wide) const {
    switch (precision) {
      case Precision::TF32: tensor<Precision::TF32>(size, wide); break;
      case Precision::BF16: tensor<Precision::BF16>(size, wide); break;
      default: simt(size, wide); break;
    }
  }

 private:
  void simt(TileSize size, bool wide) const {
    if (size == TileSize::Tiny) {
      wide ? launch<TinySimt, true>() : launch<TinySimt, false>();
    } else if (size == TileSize::Narrow) {
      wide ? launch<NarrowSimt, true>() : launch<NarrowSimt, false>();
    } else if (size == TileSize::Large && wide) {
      launch<LargeSimt, true>();
    } else if (size == TileSize::Medium && wide) {
      launch<MediumSimt, true>();
    } else {
      wide ? launch<SmallSimt, true>() : launch<SmallSimt, false>();
    }
  }
  template <Precision kPrecision>
  void tensor(TileSize size, bool wide) const {
    using Small = TensorTile<kPrecision, kSmallTensor>;
    if (size == TileSize::Large && wide) {
      launch<TensorTile<kPrecision, kLargeTensor>, true>();
    } else if (size == TileSize::Medium && wide) {
      launch<TensorTile<kPrecision, kMediumTensor>, true>();
    } else {
      wide ? launch<Small, true>() : launch<Small, false>();
    }
  }
  template <class Tile, bool kWide>
  void launch() const {
    launcher.template launch<Kernel<Tile, kWide>>({.x = tiles_of_product<Tile>(m, n), .z = depth},
                                                  args, stream);
  }
};

template <template <class, bool> class Kernel, class Launcher, class Args>
void launch_product(Launcher& launcher, const GpuConvolution& c, const Args& args, std::int64_t m,
                    std::int64_t n, int depth, bool aligned, GpuStream& stream, TileSize size) {
  const bool wide = aligned && c.in_c % 4 == 0 && c.out_c % 4 == 0;
  ProductLaunch<Kernel, Launcher, Args>{launcher, args, m, n, depth, stream}.run(c.precision, size,
                                                                                 wide);
}

// Without `size`, the tiles of the functions below follow from the shape.

// ---- Forward

// x around the pixels of y.
inline Windows windows_of_x(const GpuConvolution& c) {
  return {.source = c.x.f32(),
          .height = static_cast<int>(c.in_h),
          .width = static_cast<int>(c.in_w),
          .grid_pixels = static_cast<int>(c.images * c.out_h * c.out_w),
          .taps = static_cast<int>(c.kernel * c.kernel * c.in_c),
          .grid_size = Divisor::of(c.out_h * c.out_w),
          .grid_width = Divisor::of(c.out_w),
          .channels = Divisor::of(c.in_c),
          .taps_across = Divisor::of(c.kernel),
          .step = static_cast<int>(c.stride),
          .origin_y = static_cast<int>(-c.padding),
          .origin_x = static_cast<int>(-c.padding),
          .direction = 1,
          .fours = c.in_c % 4 == 0 && all_aligned({c.x.f32()})};
}

inline ConvolutionForwardArgs forward_args(const GpuConvolution& c) {
  return {windows_of_x(c), c.weight, c.bias, c.y.f32(), c.y.bf16(), static_cast<int>(c.out_c)};
}

template <class Launcher>
void convolution_forward(Launcher& launcher, const GpuConvolution& c, GpuStream& stream,
                         std::optional<TileSize> size) {
  const ConvolutionForwardArgs args = forward_args(c);
  launch_product<ConvolutionForwardKernel>(
      launcher, c, args, args.x.grid_pixels, c.out_c, 1,
      all_aligned({c.x.f32(), c.weight, c.y.f32()}), stream,
      size.value_or(tile_size(c.precision, args.x.grid_pixels, c.out_c, 1)));
}

// ---- Input gradient

// One axis of a phase: pixels first, first + stride, ... and taps tap, tap + stride, ...; pixel
// number i meets tap number j at output pixel origin + i - j.
struct PhaseAxis {
  std::int64_t first, pixels;
  std::int64_t tap, taps;
  std::int64_t origin;
};

inline PhaseAxis phase_axis(std::int64_t phase, std::int64_t in, const GpuConvolution& c) {
  const auto count = [&](std::int64_t first, std::int64_t end) {
    return first < end ? (end - 1 - first) / c.stride + 1 : 0;
  };
  const std::int64_t first = ((phase - c.padding) % c.stride + c.stride) % c.stride;
  return {.first = first,
          .pixels = count(first, in),
          .tap = phase,
          .taps = count(phase, c.kernel),
          .origin = (first + c.padding - phase) / c.stride};
}

inline GradientPhase gradient_phase(const PhaseAxis& y, const PhaseAxis& x,
                                    const GpuConvolution& c) {
  const auto at_least_one = [](std::int64_t n) { return n < 1 ? 1 : n; };
  return {.dy = {.source = c.dy.f32(),
                 .height = static_cast<int>(c.out_h),
                 .width = static_cast<int>(c.out_w),
                 .grid_pixels = static_cast<int>(c.images * y.pixels * x.pixels),
                 .taps = static_cast<int>(y.taps * x.taps * c.out_c),
                 .grid_size = Divisor::of(at_least_one(y.pixels * x.pixels)),
                 .grid_width = Divisor::of(at_least_one(x.pixels)),
                 .channels = Divisor::of(c.out_c),
                 .taps_across = Divisor::of(at_least_one(x.taps)),
                 .step = 1,
                 .origin_y = static_cast<int>(y.origin),
                 .origin_x = static_cast<int>(x.origin),
                 .direction = -1,
                 .fours = c.out_c % 4 == 0 && all_aligned({c.dy.f32()})},
          .first_y = static_cast<int>(y.first),
          .first_x = static_cast<int>(x.first),
          .tap_y = static_cast<int>(y.tap),
          .tap_x = static_cast<int>(x.tap)};
}

// Calls launch(args, pixels of the largest phase, phases) until all phases are launched.
template <class Launch>
void for_phases(const GpuConvolution& c, const Launch& launch) {
  InputGradientArgs args{.phases = {},
                         .weight = c.weight,
                         .dx = c.dx.f32(),
                         .bf16_dx = c.dx.bf16(),
                         .in_h = static_cast<int>(c.in_h),
                         .in_w = static_cast<int>(c.in_w),
                         .in_c = static_cast<int>(c.in_c),
                         .kernel = static_cast<int>(c.kernel),
                         .stride = static_cast<int>(c.stride),
                         .accumulate = c.accumulate};
  int phases = 0;
  std::int64_t pixels = 0;
  const auto launch_them = [&] {
    if (phases > 0) launch(args, pixels, phases);
    phases = 0;
    pixels = 0;
  };
  for (std::int64_t phase = 0; phase < c.stride * c.stride; ++phase) {
    const PhaseAxis y = phase_axis(phase / c.stride, c.in_h, c);
    const PhaseAxis x = phase_axis(phase % c.stride, c.in_w, c);
    const GradientPhase next = gradient_phase(y, x, c);
    if (next.dy.grid_pixels == 0 || (next.dy.taps == 0 && c.accumulate)) continue;
    args.phases[phases++] = next;
    pixels = next.dy.grid_pixels > pixels ? next.dy.grid_pixels : pixels;
    if (phases == kPhases) launch_them();
  }
  launch_them();
}

template <class Launcher>
void convolution_input_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream,
                                std::optional<TileSize> size) {
  for_phases(c, [&](const InputGradientArgs& args, std::int64_t pixels, int phases) {
    launch_product<InputGradientKernel>(
        launcher, c, args, pixels, c.in_c, phases, all_aligned({c.dy.f32(), c.weight, c.dx.f32()}),
        stream, size.value_or(tile_size(c.precision, pixels, c.in_c, phases)));
  });
}

// ---- Weight gradient

// How the pixels are split. Depends on the sizes only; `most` on the number of images
// monotonically.
struct WeightSplit {
  TileSize tiles = TileSize::Small;
  int terms = 0, splits = 0;
  int most = 0;           // for this number of images or fewer
  std::int64_t cost = 0;  // in terms of a block

  std::int64_t partials_bytes(const GpuConvolution& c) const {
    return most * c.kernel * c.kernel * c.in_c * c.out_c * static_cast<std::int64_t>(sizeof(float));
  }
};

// What a split of the pixels costs: blocks run in waves, and each has a beginning and an end.
struct SplitCosts {
  int tiles = 1;  // of the weights
  int blocks_per_sm = 1;
  int step_terms = 1;              // per step of a block
  int fewest_terms = 1;            // worth a split
  int overhead_terms = 0;          // that a block could compute while it begins and ends
  std::int64_t split_eighths = 1;  // per split that is added, in eighths of a term
};

// The split of `pixels` that takes the least time on an H100.
inline WeightSplit best_split(const SplitCosts& costs, int pixels) {
  constexpr int kSms = 132;
  const int slots = kSms * costs.blocks_per_sm;
  const int worth = tiles_of(pixels, costs.fewest_terms);
  const int useful = tiles_of(2 * slots, costs.tiles);
  WeightSplit split{.terms = costs.step_terms};
  split.most = worth < useful ? worth : useful;
  std::int64_t least = -1;
  for (int n = 1; n <= split.most; ++n) {
    const int terms = tiles_of(tiles_of(pixels, n), costs.step_terms) * costs.step_terms;
    const std::int64_t waves = tiles_of(std::int64_t{costs.tiles} * n, slots);
    const std::int64_t cost = waves * (terms + costs.overhead_terms) + n * costs.split_eighths / 8;
    if (least >= 0 && cost >= least) continue;
    least = split.cost = cost;
    split.terms = terms;
  }
  split.splits = tiles_of(pixels, split.terms);
  return split;
}

inline std::int64_t taps_of(const GpuConvolution& c) {
  return c.kernel * c.kernel * c.in_c;
}

// For C [m, n].
template <class Tile>
WeightSplit split_for(const GpuConvolution& c, SplitCosts costs, std::int64_t m, std::int64_t n) {
  costs.tiles = tiles_of_product<Tile>(m, n);
  costs.blocks_per_sm = Tile::kBlocksPerSm;
  return best_split(costs, static_cast<int>(c.images * c.out_h * c.out_w));
}

inline WeightSplit weight_split(const GpuConvolution& c) {
  // 32 terms are a multiple of a step of any precision.
  constexpr SplitCosts kCosts{.step_terms = 32, .fewest_terms = 64, .overhead_terms = 128};
  const std::int64_t taps = taps_of(c);
  const TileSize size = tile_size(c.precision, taps, c.out_c,
                                  tiles_of(c.images * c.out_h * c.out_w, kCosts.fewest_terms));
  WeightSplit split;
  switch (size) {
    case TileSize::Large: split = split_for<LargeSimt>(c, kCosts, taps, c.out_c); break;
    case TileSize::Medium: split = split_for<MediumSimt>(c, kCosts, taps, c.out_c); break;
    case TileSize::Small: split = split_for<SmallSimt>(c, kCosts, taps, c.out_c); break;
    case TileSize::Narrow: split = split_for<NarrowSimt>(c, kCosts, taps, c.out_c); break;
    case TileSize::Tiny: split = split_for<TinySimt>(c, kCosts, taps, c.out_c); break;
  }
  split.tiles = size;
  return split;
}

// The workspace: the partial sums of the weights, then those of the bias.
inline std::int64_t weight_partials_bytes(const GpuConvolution& c) {
  constexpr std::int64_t kAlignment = 256;
  return (weight_split(c).partials_bytes(c) + kAlignment - 1) / kAlignment * kAlignment;
}
inline std::int64_t bias_partials_bytes(const GpuConvolution& c) {
  return most_column_sums_bytes(c.images * c.out_h * c.out_w, c.out_c, 1);
}
inline std::int64_t convolution_workspace_bytes(const GpuConvolution& c) {
  return weight_partials_bytes(c) + bias_partials_bytes(c);
}

// Adds the partial sums of the splits.
template <class Launcher>
void add_splits(Launcher& launcher, const GpuConvolution& c, const float* partials, int splits,
                GpuStream& stream) {
  const int taps = static_cast<int>(taps_of(c));
  const int out_c = static_cast<int>(c.out_c);
  const auto launch = [&]<class Kernel>() {
    const LaunchGrid grid{.x = tiles_of(taps, Kernel::kTaps),
                          .y = tiles_of(out_c, Kernel::kChannels)};
    launcher.template launch<Kernel>(grid, {partials, c.dweight, splits, taps, out_c}, stream);
  };
  constexpr int kManySplits = 16;
  constexpr std::int64_t kFewWeights = 1 << 18;  // too few blocks for a GPU without sharing
  const bool wide = column_width(out_c, all_aligned({partials})) == 4;
  if (splits < kManySplits || std::int64_t{taps} * out_c > kFewWeights) {
    wide ? launch.template operator()<SplitSumKernel<4, 1>>()
         : launch.template operator()<SplitSumKernel<1, 1>>();
  } else {
    wide ? launch.template operator()<SplitSumKernel<4, 32>>()
         : launch.template operator()<SplitSumKernel<1, 32>>();
  }
}

template <class Launcher>
void convolution_weight_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream,
                                 std::optional<TileSize> size) {
  const WeightSplit split = weight_split(c);
  auto* partials = reinterpret_cast<float*>(c.workspace);
  const WeightGradientArgs args{windows_of_x(c), c.dy.f32(), partials, static_cast<int>(c.out_c),
                                split.terms};
  launch_product<WeightGradientKernel>(launcher, c, args, args.x.taps, c.out_c, split.splits,
                                       all_aligned({c.x.f32(), c.dy.f32(), partials}), stream,
                                       size.value_or(split.tiles));
  add_splits(launcher, c, partials, split.splits, stream);
}

// ---- Bias gradient

// `partials`: memory of bias_partials_bytes().
template <class Launcher>
void convolution_bias_gradient(Launcher& launcher, const GpuConvolution& c, std::byte* partials,
                               GpuStream& stream) {
  column_sums(launcher, c.dy, c.dbias, c.images * c.out_h * c.out_w, c.out_c, partials, stream);
}

}  // namespace lab::cuda
