#pragma once
// The passes of a convolution by wgmma. FP32 operands are rounded to 16 bits per element first,
// which costs a pass over them and halves what the product reads, several times, from L2. Forward
// keeps its rounded operands for the two gradients, 2 bytes per element of x and of weight.
//
// Limits   bf16 and tf32; in_c and out_c multiples of 64; kernel and padding up to 16, stride up to
//          8; with FP32 arrays only kernels larger than one pixel, because with one the product
//          reads each operand too rarely; 16-byte aligned arrays; compute capability 9.0 (sm_90a)
// Numerics as in convolution.cuh, with tf32 as in rounding.cuh
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/gpu/cuda/layers/convolution/convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/rounding.cuh"
#include "compute/gpu/cuda/layers/convolution/strip_convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/wgmma_product.cuh"

namespace lab::cuda {

// ---- Kernels

template <class Tile>
struct WgmmaKernel {
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kBlocksPerSm = Tile::kBlocksPerSm;
  static constexpr int kDynamicBytes = Tile::kDynamicBytes;
};

// The FP32 operands of the passes below are not read.
template <class Tile>
struct WgmmaForwardKernel : WgmmaKernel<Tile> {
  struct Args {
    ConvolutionForwardArgs pass;
    Tiles<Tile> tiles;
    Rounded a, b;
    WindowBoxes x;        // of kM pixels
    simt::BoxMap weight;  // of kN rows
  };
  static constexpr const char* kName = "convolution forward by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    const Windows& x = args.pass.x;
    multiply_boxes<Tile>(
        args.tiles.count,
        [&](int tile) {
          return Job{args.tiles.place(tile), x.taps / kBox};
        },
        [&](const Job& job) {
          return Feed{args, first_met(x, args.x, job.place.row), job.place.col, taps_down(x)};
        },
        [&](auto& sums, const Job& job) {
          leave_tile<Tile>(sums, args.a, args.b, ForwardOutput<true, 2>{args.pass}, job.place,
                           args.tiles.m);
        });
  }

 private:
  struct Job {
    TilePlace place;
    int steps;
  };
  struct Feed {
    static constexpr bool kASlots = true, kBSlots = true;
    const Args& args;
    simt::PixelPlace pixel;
    int col, down;
    TapStep at = {};

    LAB_DEVICE void copy(simt::Box stage, simt::SharedPtr<simt::Barrier> full) const {
      const Windows& x = args.pass.x;
      copy_window(stage, x, args.x, pixel, at.down, at.across, at.channel, full);
      const int tap = at.down * static_cast<int>(x.taps_across.value) + at.across;
      simt::copy_weights(stage + Tile::kBytesOfA, args.weight, at.channel, tap, col, full);
    }
    LAB_DEVICE void advance() { at.advance(args.pass.x, down); }
  };
};

template <class Tile>
struct WgmmaInputGradientKernel : WgmmaKernel<Tile> {
  struct Args {
    InputGradientArgs pass;
    Tiles<Tile> tiles[kPhases];
    int all_tiles;
    Rounded a, b;
    WindowBoxes dy[kPhases];  // of kM pixels
    simt::BoxMap weight;      // of kBox rows
  };
  static constexpr const char* kName = "convolution input gradient by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    multiply_boxes<Tile>(
        args.all_tiles, [&](int tile) { return job_of(args, tile); },
        [&](const Job& job) {
          const Windows& dy = args.pass.phases[job.phase].dy;
          const WindowBoxes& boxes = args.dy[job.phase];
          return Feed{args, job.phase, first_met(dy, boxes, job.place.row), job.place.col,
                      taps_down(dy)};
        },
        [&](auto& sums, const Job& job) {
          leave_tile<Tile>(sums, args.a, args.b,
                           InputGradientOutput<true, 2>{args.pass, args.pass.phases[job.phase]},
                           job.place, args.tiles[job.phase].m);
        });
  }

 private:
  struct Job {
    int phase;
    TilePlace place;
    int steps;
  };
  static LAB_DEVICE Job job_of(const Args& args, int tile) {
    int phase = 0;
    while (phase + 1 < kPhases && tile >= args.tiles[phase].count) {
      tile -= args.tiles[phase++].count;
    }
    return {phase, args.tiles[phase].place(tile), args.pass.phases[phase].dy.taps / kBox};
  }

  struct Feed {
    static constexpr bool kASlots = true, kBSlots = false;
    const Args& args;
    int phase;
    simt::PixelPlace pixel;
    int col, down;
    TapStep at = {};

    LAB_DEVICE void copy(simt::Box stage, simt::SharedPtr<simt::Barrier> full) const {
      const InputGradientArgs& pass = args.pass;
      const GradientPhase& of = pass.phases[phase];
      copy_window(stage, of.dy, args.dy[phase], pixel, at.down, at.across, at.channel, full);
      const int y = of.tap_y + at.down * pass.stride, x = of.tap_x + at.across * pass.stride;
      LAB_UNROLL
      for (int box = 0; box < Tile::kN / kBox; ++box) {
        simt::copy_weights(stage + Tile::kBytesOfA + box * simt::kBoxBytes, args.weight,
                           col + box * kBox, y * pass.kernel + x, at.channel, full);
      }
    }
    LAB_DEVICE void advance() { at.advance(args.pass.phases[phase].dy, down); }
  };
};

// Rows of C are output channels, in the order of the weights.
template <class Tile>
struct WgmmaWeightGradientKernel : WgmmaKernel<Tile> {
  struct Args {
    WeightGradientArgs pass;
    Tiles<Tile> tiles;
    Divisor tile_count;
    int splits;
    Rounded a, b;
    WindowBoxes x;    // of kBox pixels
    simt::BoxMap dy;  // likewise
  };
  static constexpr const char* kName = "convolution weight gradient by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    multiply_boxes<Tile>(
        args.tiles.count * args.splits, [&](int i) { return job_of(args, i); },
        [&](const Job& job) { return Feed(args, job); },
        [&](auto& sums, const Job& job) {
          if constexpr (Tile::kScaled) unscale(sums, args.a, args.b);
          leave_gradient(sums, args.pass, job.split, job.place.row, job.place.col);
        });
  }

 private:
  struct Job {
    int split;
    TilePlace place;
    int steps;
  };
  static LAB_DEVICE Job job_of(const Args& args, int i) {
    const auto [split, tile] = divide(i, args.tile_count);
    const int begin = split * args.pass.split_terms, left = args.pass.x.grid_pixels - begin;
    const int terms = left < args.pass.split_terms ? left : args.pass.split_terms;
    return {split, args.tiles.place(tile), (terms + kBox - 1) / kBox};
  }

  struct Feed {
    static constexpr bool kASlots = false, kBSlots = false;
    static constexpr int kColumnBoxes = Tile::kN / kBox;
    const Args& args;
    int row, pixel;
    struct {
      int channel, across, down;
    } columns[kColumnBoxes];

    LAB_DEVICE Feed(const Args& of, const Job& job)
        : args(of), row(job.place.row), pixel(job.split * of.pass.split_terms) {
      const Windows& x = args.pass.x;
      LAB_UNROLL
      for (int box = 0; box < kColumnBoxes; ++box) {
        const auto [tap, channel] = divide(job.place.col + box * kBox, x.channels);
        const auto [down, across] = divide(tap, x.taps_across);
        columns[box] = {channel, across, down};
      }
    }

    LAB_DEVICE void copy(simt::Box stage, simt::SharedPtr<simt::Barrier> full) const {
      const Windows& x = args.pass.x;
      const auto [image, place] = divide(pixel, x.grid_size);
      const auto [y_of_dy, x_of_dy] = divide(place, x.grid_width);
      LAB_UNROLL
      for (int box = 0; box < Tile::kM / kBox; ++box) {
        simt::copy_pixels(stage + box * simt::kBoxBytes, args.dy, row + box * kBox,
                          {.x = x_of_dy, .y = y_of_dy, .image = image}, 0, 0, full);
      }
      const simt::PixelPlace met{.x = x_of_dy * x.step + args.x.first_x,
                                 .y = y_of_dy * x.step + args.x.first_y,
                                 .image = image};
      LAB_UNROLL
      for (int box = 0; box < kColumnBoxes; ++box) {
        copy_window(stage + Tile::kBytesOfA + box * simt::kBoxBytes, x, args.x, met,
                    columns[box].down, columns[box].across, columns[box].channel, full);
      }
    }
    LAB_DEVICE void advance() { pixel += kBox; }
  };
};

// ---- Launches

// Channels that fill boxes, and what keeps the corners of im2col maps within -128 to 127, taps
// within 0 to 255 and steps within 8.
inline bool fits_boxes(const GpuConvolution& c) {
  constexpr std::int64_t kMostKernelOrPadding = 16, kMostStride = 8;
  return c.precision != Precision::F32 && c.in_c % kBox == 0 && c.out_c % kBox == 0 &&
         c.kernel <= kMostKernelOrPadding && c.padding <= kMostKernelOrPadding &&
         c.stride <= kMostStride;
}
inline bool is_wgmma_shape(const GpuConvolution& c) {
  return fits_boxes(c) && (c.kernel > 1 || c.x.is_bf16() || c.y.is_bf16());
}
inline bool takes_wgmma(const GpuConvolution& c) {
  return is_wgmma_shape(c) &&
         all_aligned({c.x.data(), c.weight, c.bf16_weight, c.y.data(), c.dy.data(), c.dx.data(),
                      c.dweight, c.workspace, c.kept});
}

// The rounded arrays: of x, y and the weights; empty for arrays that are bf16 already.
struct WgmmaArrays {
  RoundedArray x, y, weight;

  explicit WgmmaArrays(const GpuConvolution& c) {
    const bool scaled = is_scaled(c.precision);
    if (!c.x.is_bf16()) x = {c.images * c.in_h * c.in_w * c.in_c, scaled};
    if (!c.y.is_bf16()) y = {c.images * c.out_h * c.out_w * c.out_c, scaled};
    if (!uses_bf16_weight(c)) weight = {c.kernel * c.kernel * c.in_c * c.out_c, scaled};
  }
  // In GpuConvolution::kept.
  Rounded kept_x(const GpuConvolution& c) const {
    return c.x.is_bf16() ? Rounded{c.x.bf16(), nullptr} : x.at(c.kept);
  }
  std::byte* weight_memory(const GpuConvolution& c) const { return c.kept + x.bytes(); }
  Rounded kept_weight(const GpuConvolution& c) const {
    return uses_bf16_weight(c) ? Rounded{c.bf16_weight, nullptr} : weight.at(weight_memory(c));
  }
  // In GpuConvolution::workspace, after dy: the partial sums of the weights, then of the bias.
  std::byte* partials(const GpuConvolution& c) const { return c.workspace + y.bytes(); }

  static bool uses_bf16_weight(const GpuConvolution& c) {
    return c.bf16_weight != nullptr && c.precision == Precision::BF16;
  }
};

template <bool kScaled>
using SquareTile = WgmmaTile<kScaled, 128, 128, 6>;
template <bool kScaled>
using TallTile = WgmmaTile<kScaled, 192, 128, 5>;
template <bool kScaled>
using WideTile = WgmmaTile<kScaled, 128, 192, 5>;
template <bool kScaled>
using NarrowTile = WgmmaTile<kScaled, 128, 64, 4, 2>;

// Blocks that take turns with `jobs`.
template <class Tile, class Launcher>
LaunchGrid blocks_for(const Launcher& launcher, int jobs) {
  return {.x = std::min(jobs, launcher.multiprocessors() * Tile::kBlocksPerSm)};
}

// Calls work.operator()<Tile>() for the tile that minimises the rows that an SM computes in turn,
// and for the tall one if that is as good, because it reads less. C is [m, n], with one m per
// phase.
template <class Work>
void with_pixel_tile(Precision precision, std::span<const std::int64_t> m, std::int64_t n,
                     int multiprocessors, const Work& work) {
  with_scaled(precision, [&]<bool kScaled>() {
    if (n % SquareTile<kScaled>::kN != 0) return work.template operator()<NarrowTile<kScaled>>();
    const auto rows_in_turn = [&]<class Tile>() {
      std::int64_t tiles = 0;
      for (const std::int64_t rows : m) tiles += tiles_of_product<Tile>(rows, n);
      return tiles_of(tiles, multiprocessors) * Tile::kM;
    };
    const bool tall = rows_in_turn.template operator()<TallTile<kScaled>>() <=
                      rows_in_turn.template operator()<SquareTile<kScaled>>();
    tall ? work.template operator()<TallTile<kScaled>>()
         : work.template operator()<SquareTile<kScaled>>();
  });
}

// Calls work.operator()<Tile>(split) for the tile and the split of the pixels that take the least
// time on an H100. Depends on the sizes only.
template <class Work>
void with_weight_tile(const GpuConvolution& c, const Work& work) {
  const std::int64_t taps = taps_of(c);
  const auto split_by = [&]<class Tile>() {
    constexpr int kWeightsPerEighth = 360 * Tile::kN / 128;  // added in an eighth of a term's time
    return split_for<Tile>(c,
                           {.step_terms = kBox,
                            .fewest_terms = 512,
                            .overhead_terms = 256,
                            .split_eighths = taps * c.out_c / kWeightsPerEighth},
                           c.out_c, taps);
  };
  with_scaled(c.precision, [&]<bool kScaled>() {
    using Square = SquareTile<kScaled>;
    using Wide = WideTile<kScaled>;
    using Narrow = NarrowTile<kScaled>;
    const bool fits_square = taps % Square::kN == 0, fits_wide = taps % Wide::kN == 0;
    if (!fits_square && !fits_wide) {
      return work.template operator()<Narrow>(split_by.template operator()<Narrow>());
    }
    WeightSplit square = split_by.template operator()<Square>();
    if (!fits_wide) return work.template operator()<Square>(square);
    WeightSplit wide = split_by.template operator()<Wide>();
    square.most = wide.most = std::max(square.most, wide.most);
    const std::int64_t wide_cost = wide.cost * Wide::kN, square_cost = square.cost * Square::kN;
    !fits_square || wide_cost <= square_cost ? work.template operator()<Wide>(wide)
                                             : work.template operator()<Square>(square);
  });
}

inline WeightSplit wgmma_split(const GpuConvolution& c, int multiprocessors) {
  if (is_strip_shape(c)) return strip_split(c, multiprocessors);
  WeightSplit chosen;
  with_weight_tile(c, [&]<class Tile>(const WeightSplit& split) { chosen = split; });
  return chosen;
}

// The workspace: dy, which the input gradient may take over from the weight gradient, then the
// partial sums of the weights, then those of the bias.
inline std::int64_t wgmma_bias_partials(const GpuConvolution& c, int multiprocessors) {
  constexpr std::int64_t kAlignment = 256;
  const std::int64_t end =
      WgmmaArrays(c).y.bytes() + wgmma_split(c, multiprocessors).partials_bytes(c);
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}
inline std::int64_t wgmma_workspace_bytes(const GpuConvolution& c, int multiprocessors) {
  return wgmma_bias_partials(c, multiprocessors) + bias_partials_bytes(c);
}
// x and weight.
inline std::int64_t wgmma_kept_bytes(const GpuConvolution& c) {
  const WgmmaArrays arrays(c);
  return arrays.x.bytes() + arrays.weight.bytes();
}

// The pixels of dy.
inline simt::PixelBoxes output_boxes(const GpuConvolution& c, const std::uint16_t* dy,
                                     int box_rows) {
  return {.elements = dy,
          .images = static_cast<int>(c.images),
          .height = static_cast<int>(c.out_h),
          .width = static_cast<int>(c.out_w),
          .channels = static_cast<int>(c.out_c),
          .grid_height = static_cast<int>(c.out_h),
          .grid_width = static_cast<int>(c.out_w),
          .box_rows = box_rows};
}

// x or dy: rounded, unless it is bf16 already.
template <class Launcher>
Rounded round_images(Launcher& launcher, ConstGpuActivations from,
                     const std::uint32_t* known_largest, const RoundedArray& array, std::byte* to,
                     GpuStream& stream) {
  if (from.is_bf16()) return {from.bf16(), nullptr};
  return round_to(launcher, from.f32(), known_largest, array, to, stream);
}

template <class Launcher>
void wgmma_forward(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const Rounded x = round_images(launcher, c.x, c.x_largest, arrays.x, c.kept, stream);
  if (!WgmmaArrays::uses_bf16_weight(c)) {
    round_to(launcher, c.weight, nullptr, arrays.weight, arrays.weight_memory(c), stream);
  }
  const Rounded w = arrays.kept_weight(c);
  if (is_strip_shape(c)) {
    return launch_strips<false>(launcher, c, forward_args(c), x, w, stream);
  }
  const ConvolutionForwardArgs pass = forward_args(c);
  const std::int64_t pixels[] = {pass.x.grid_pixels};
  with_pixel_tile(c.precision, pixels, c.out_c, launcher.multiprocessors(), [&]<class Tile>() {
    const auto tiles = Tiles<Tile>::of(pass.x.grid_pixels, c.out_c);
    launcher.template launch<WgmmaForwardKernel<Tile>>(
        blocks_for<Tile>(launcher, tiles.count),
        {pass, tiles, x, w, window_boxes(launcher, pass.x, x.elements, Tile::kM),
         launcher.map(weight_boxes(c, w, Tile::kN))},
        stream);
  });
}

template <class Launcher>
void wgmma_input_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const bool has_rounded = c.after_weight_gradient && !c.dy.is_bf16();
  const Rounded dy =
      has_rounded ? arrays.y.at(c.workspace)
                  : round_images(launcher, c.dy, c.dy_largest, arrays.y, c.workspace, stream);
  const Rounded w = arrays.kept_weight(c);
  for_phases(c, [&](const InputGradientArgs& pass, std::int64_t /*most_pixels*/, int phases) {
    if (is_strip_shape(c)) return launch_strips<true>(launcher, c, pass, dy, w, stream);
    std::int64_t pixels[kPhases] = {};
    for (int phase = 0; phase < phases; ++phase) {
      pixels[phase] = pass.phases[phase].dy.grid_pixels;
    }
    with_pixel_tile(c.precision, pixels, c.in_c, launcher.multiprocessors(), [&]<class Tile>() {
      using Kernel = WgmmaInputGradientKernel<Tile>;
      typename Kernel::Args args{pass, {}, 0, dy, w, {}, launcher.map(weight_boxes(c, w, kBox))};
      for (int phase = 0; phase < phases; ++phase) {
        const Windows& of = pass.phases[phase].dy;
        args.tiles[phase] = Tiles<Tile>::of(pixels[phase], c.in_c);
        args.all_tiles += args.tiles[phase].count;
        args.dy[phase] = window_boxes(launcher, of, dy.elements, Tile::kM);
      }
      launcher.template launch<Kernel>(blocks_for<Tile>(launcher, args.all_tiles), args, stream);
    });
  });
}

template <class Launcher>
void wgmma_weight_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const Rounded x = arrays.kept_x(c);
  const Rounded dy = round_images(launcher, c.dy, c.dy_largest, arrays.y, c.workspace, stream);
  const auto compute = [&](const WeightSplit& split, const auto& launch) {
    const bool in_one = split.splits == 1;
    float* const partials = in_one ? c.dweight : reinterpret_cast<float*>(arrays.partials(c));
    launch(WeightGradientArgs{windows_of_x(c), c.dy.f32(), partials, static_cast<int>(c.out_c),
                              split.terms});
    if (in_one) return;
    add_partials(launcher, partials, c.dweight, split.splits, c.out_c * taps_of(c), stream);
  };
  if (is_strip_shape(c)) {
    const WeightSplit split = strip_split(c, launcher.multiprocessors());
    return compute(split, [&](const WeightGradientArgs& pass) {
      strip_weight_gradient(launcher, c, pass, x, dy, split, stream);
    });
  }
  with_weight_tile(c, [&]<class Tile>(const WeightSplit& split) {
    compute(split, [&](const WeightGradientArgs& pass) {
      const auto tiles = Tiles<Tile>::of(c.out_c, taps_of(c));
      launcher.template launch<WgmmaWeightGradientKernel<Tile>>(
          blocks_for<Tile>(launcher, tiles.count * split.splits),
          {pass, tiles, Divisor::of(tiles.count), split.splits, dy, x,
           window_boxes(launcher, pass.x, x.elements, kBox),
           launcher.map(output_boxes(c, dy.elements, kBox))},
          stream);
    });
  });
}

}  // namespace lab::cuda
