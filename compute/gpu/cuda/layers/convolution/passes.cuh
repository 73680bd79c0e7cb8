#pragma once
// The three passes of a convolution as matrix products, C [m, n] over k terms:
//
//   pass              rows of C           columns of C        terms
//   forward           pixels of y         output channels     taps x input channels
//   input gradient    pixels of dx        input channels      taps x output channels
//   weight gradient   taps x in channels  output channels     pixels of dy
//
// With stride s, the pixels of dx fall into s*s phases, each of which meets its own taps only; a
// phase is a product of its own. The weight gradient is split over its terms into partial sums,
// which a second kernel adds in a fixed order.
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/convolution/operands.cuh"
#include "compute/gpu/cuda/layers/convolution/product.cuh"

namespace lab::cuda {

// How a product leaves C. An output has
//   add(row, col, sums)     adds to a run of sums what C has besides the product
//   write(row, col, sums)   writes the run; called once add() has been called for all runs, so that
//                           the reads of add() need not wait for writes
// A run is kRun neighbouring elements, one access if kWide.

// Calls put(i) for each element of a run that lies within `columns`.
template <bool kWide, int kRun, class Put>
LAB_DEVICE void for_columns(int col, int columns, const Put& put) {
  LAB_UNROLL
  for (int i = 0; i < kRun; ++i) {
    if (kWide || col + i < columns) put(i);
  }
}

template <bool kWide, int kRun>
LAB_DEVICE void write_run(simt::GlobalPtr<float> to, int col, int columns, const float* values) {
  if constexpr (kWide && kRun == 4) {
    simt::store(to + col, simt::Float4{values[0], values[1], values[2], values[3]});
  } else if constexpr (kWide && kRun == 2) {
    simt::store(to + col, simt::Float2{values[0], values[1]});
  } else {
    for_columns<kWide, kRun>(col, columns, [&](int i) { to[col + i] = values[i]; });
  }
}

template <bool kWide, int kRun>
LAB_DEVICE void add_run(simt::GlobalPtr<const float> from, int col, int columns, float* values) {
  if constexpr (kWide && kRun == 4) {
    const auto four = simt::load<simt::Float4>(from + col);
    values[0] += four.x;
    values[1] += four.y;
    values[2] += four.z;
    values[3] += four.w;
  } else if constexpr (kWide && kRun == 2) {
    const auto two = simt::load<simt::Float2>(from + col);
    values[0] += two.x;
    values[1] += two.y;
  } else {
    for_columns<kWide, kRun>(col, columns, [&](int i) {
      const float more = from[col + i];
      values[i] += more;
    });
  }
}

// ---- Forward

struct ConvolutionForwardArgs {
  Windows x;
  const float* weight;  // [out_c, taps]
  const float* bias;
  float* y;
  int out_c;
};

template <bool kWide, int kRun>
struct ForwardOutput {
  const ConvolutionForwardArgs& args;

  LAB_DEVICE void add(int /*row*/, int col, float* sums) const {
    if (args.bias == nullptr) return;
    for_columns<kWide, kRun>(col, args.out_c, [&](int i) {
      const float bias = simt::global(args.bias)[col + i];
      sums[i] += bias;
    });
  }
  LAB_DEVICE void write(int row, int col, const float* sums) const {
    const auto to = simt::global(args.y) + std::int64_t{row} * args.out_c;
    write_run<kWide, kRun>(to, col, args.out_c, sums);
  }
};

template <class Tile, bool kWide>
struct ConvolutionForwardKernel {
  using Args = ConvolutionForwardArgs;
  using TileType = Tile;
  static constexpr const char* kName = "convolution forward";
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kBlocksPerSm = Tile::kBlocksPerSm;

  static LAB_DEVICE void run(const Args& args) {
    const ProductPart part{args.x.grid_pixels, args.out_c, 0, args.x.taps};
    const RowMajorOperand weight{{args.weight, args.out_c}, args.x.taps};
    multiply_tile<Tile, kWide>(part, PixelRows{args.x}, weight,
                               ForwardOutput<kWide, Tile::kRun>{args});
  }
};

// ---- Input gradient

// The pixels (first_y + stride * i, first_x + stride * j) of every image and the taps
// (tap_y + stride * i, tap_x + stride * j) of the kernel.
struct GradientPhase {
  Windows dy;
  int first_y, first_x;
  int tap_y, tap_x;
};

inline constexpr int kPhases = 4;  // per launch

struct InputGradientArgs {
  GradientPhase phases[kPhases];
  const float* weight;  // [out_c, kernel, kernel, in_c]
  float* dx;
  int in_h, in_w, in_c;
  int kernel, stride;
  bool accumulate;
};

// Rows are input channels; a term is a tap of the phase and an output channel.
struct PhaseWeights : MatrixOperand {
  static constexpr bool kAlongTerms = false;
  const InputGradientArgs& args;
  const GradientPhase& phase;

  LAB_DEVICE Row row(int index) const { return {static_cast<Offset>(index), index < rows}; }
  LAB_DEVICE Term term(int index, int end) const {
    if (index >= end) return {0, false};
    const auto [tap, channel] = divide(index, phase.dy.channels);
    const auto [down, across] = divide(tap, phase.dy.taps_across);
    const int y = phase.tap_y + down * args.stride, x = phase.tap_x + across * args.stride;
    const int place = (channel * args.kernel + y) * args.kernel + x;
    return {static_cast<Offset>(place) * static_cast<Offset>(rows), true};
  }
  // The term `n` after another of the same tap.
  LAB_DEVICE Term advance(const Term& term, int n) const {
    const int places = n * args.kernel * args.kernel;
    return {term.offset + static_cast<Offset>(places) * static_cast<Offset>(rows), term.inside};
  }
  // Whether `n` terms from a multiple of n on always belong to one tap.
  LAB_DEVICE bool keeps_tap(int n) const {
    return phase.dy.channels.value % static_cast<std::uint32_t>(n) == 0;
  }
};

template <bool kWide, int kRun>
struct InputGradientOutput {
  const InputGradientArgs& args;
  const GradientPhase& phase;

  LAB_DEVICE void add(int row, int col, float* sums) const {
    if (args.accumulate) add_run<kWide, kRun>(dx_of(row), col, args.in_c, sums);
  }
  LAB_DEVICE void write(int row, int col, const float* sums) const {
    write_run<kWide, kRun>(dx_of(row), col, args.in_c, sums);
  }

 private:
  LAB_DEVICE simt::GlobalPtr<float> dx_of(int row) const {
    const auto [image, place] = divide(row, phase.dy.grid_size);
    const auto [down, across] = divide(place, phase.dy.grid_width);
    const std::int64_t line = std::int64_t{image} * args.in_h + phase.first_y + down * args.stride;
    const std::int64_t pixel = line * args.in_w + phase.first_x + across * args.stride;
    return simt::global(args.dx) + pixel * args.in_c;
  }
};

// grid.z: phases
template <class Tile, bool kWide>
struct InputGradientKernel {
  using Args = InputGradientArgs;
  using TileType = Tile;
  static constexpr const char* kName = "convolution input gradient";
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kBlocksPerSm = Tile::kBlocksPerSm;

  static LAB_DEVICE void run(const Args& args) {
    const GradientPhase phase = args.phases[simt::block_idx().z];
    const ProductPart part{phase.dy.grid_pixels, args.in_c, 0, phase.dy.taps};
    const PhaseWeights weight{{args.weight, args.in_c}, args, phase};
    multiply_tile<Tile, kWide>(part, PixelRows{phase.dy}, weight,
                               InputGradientOutput<kWide, Tile::kRun>{args, phase});
  }
};

// ---- Weight gradient

struct WeightGradientArgs {
  Windows x;
  const float* dy;  // [pixels, out_c]
  float* partials;  // [splits, taps, out_c]
  int out_c;
  int split_terms;  // pixels per split
};

// The part of the product of the split grid.z.
LAB_DEVICE ProductPart split_of(const WeightGradientArgs& args) {
  const int split = simt::block_idx().z;
  const std::int64_t end = std::int64_t{split + 1} * args.split_terms;
  const int pixels = args.x.grid_pixels;
  return {args.x.taps, args.out_c, split * args.split_terms,
          end < pixels ? static_cast<int>(end) : pixels};
}

template <bool kWide, int kRun>
struct WeightGradientOutput {
  const WeightGradientArgs& args;

  LAB_DEVICE void add(int /*row*/, int /*col*/, float* /*sums*/) const {}
  LAB_DEVICE void write(int row, int col, const float* sums) const {
    const std::int64_t line = std::int64_t{simt::block_idx().z} * args.x.taps + row;
    const auto to = simt::global(args.partials) + line * args.out_c;
    write_run<kWide, kRun>(to, col, args.out_c, sums);
  }
};

// grid.z: splits
template <class Tile, bool kWide>
struct WeightGradientKernel {
  using Args = WeightGradientArgs;
  using TileType = Tile;
  static constexpr const char* kName = "convolution weight gradient";
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kBlocksPerSm = Tile::kBlocksPerSm;

  static LAB_DEVICE void run(const Args& args) {
    const TermMajorOperand dy{{args.dy, args.out_c}};
    multiply_tile<Tile, kWide>(split_of(args), TapRows{args.x}, dy,
                               WeightGradientOutput<kWide, Tile::kRun>{args});
  }
};

// dweight [out_c, taps] = the sums of the partials [splits, taps, out_c], in FP64.
struct SplitSumArgs {
  const float* partials;
  float* dweight;
  int splits, taps, out_c;
};

// One block per 32x32 elements, transposed in shared memory so that both arrays are accessed along
// their rows.
struct SplitSumKernel {
  using Args = SplitSumArgs;
  static constexpr const char* kName = "sum of weight gradients";
  static constexpr int kSide = 32;
  static constexpr int kDown = 8;
  static constexpr int kThreads = kSide * kDown;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(float, tile, kSide*(kSide + 1));
    const int across = simt::thread_idx().x % kSide, down = simt::thread_idx().x / kSide;
    const int tap = simt::block_idx().x * kSide, channel = simt::block_idx().y * kSide;
    const auto partials = simt::global(args.partials);
    for (int i = down; i < kSide; i += kDown) {
      if (tap + i >= args.taps || channel + across >= args.out_c) continue;
      double sum = 0;
      for (int split = 0; split < args.splits; ++split) {
        const std::int64_t line = std::int64_t{split} * args.taps + tap + i;
        const float part = partials[line * args.out_c + channel + across];
        sum += static_cast<double>(part);
      }
      tile[i * (kSide + 1) + across] = static_cast<float>(sum);
    }
    simt::sync_threads();
    const auto dweight = simt::global(args.dweight);
    for (int i = down; i < kSide; i += kDown) {
      if (tap + across >= args.taps || channel + i >= args.out_c) continue;
      const float sum = tile[across * (kSide + 1) + i];
      dweight[std::int64_t{channel + i} * args.taps + tap + across] = sum;
    }
  }
};

// The same for many splits, of which there are many only where there are few weights: one block per
// 32 channels of a tap, whose threads share the splits.
struct ManySplitsSumKernel {
  using Args = SplitSumArgs;
  static constexpr const char* kName = "sum of many weight gradients";
  static constexpr int kFewest = 16;
  static constexpr int kAcross = SplitSumKernel::kSide, kDown = 32;
  static constexpr int kThreads = kAcross * kDown;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(double, sums, kThreads);
    const int t = simt::thread_idx().x;
    const int tap = simt::block_idx().x, channel = simt::block_idx().y * kAcross + t % kAcross;
    double sum = 0;
    if (channel < args.out_c) {
      const auto from = simt::global(args.partials) + std::int64_t{tap} * args.out_c + channel;
      const std::int64_t pitch = std::int64_t{args.taps} * args.out_c;
      LAB_UNROLL_BY(4)
      for (int split = t / kAcross; split < args.splits; split += kDown) {
        const float part = from[split * pitch];
        sum += static_cast<double>(part);
      }
    }
    sums[t] = sum;
    simt::sync_threads();
    if (t >= kAcross || channel >= args.out_c) return;
    for (int d = 1; d < kDown; ++d) {
      const double more = sums[d * kAcross + t];
      sum += more;
    }
    simt::global(args.dweight)[std::int64_t{channel} * args.taps + tap] = static_cast<float>(sum);
  }
};

}  // namespace lab::cuda
