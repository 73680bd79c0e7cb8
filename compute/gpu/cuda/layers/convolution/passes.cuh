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
#include "compute/gpu/cuda/layers/columns.cuh"
#include "compute/gpu/cuda/layers/convolution/operands.cuh"
#include "compute/gpu/cuda/layers/convolution/product.cuh"

namespace lab::cuda {

// How a product leaves C. An output has
//   add(row, col, sums)     adds to a run of sums what C has besides the product
//   write(row, col, sums)   writes the run; called once add() has been called for all runs, so that
//                           the reads of add() need not wait for writes
// and, for the products of wgmma_product.cuh,
//   is_bf16()               whether the sums are rounded to bf16 instead of calling write()
//   bf16_row(row)           the row of C to which they are
//   adds_to_bf16()          whether that row's elements are added first
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
    simt::store(to + col, simt::own_registers(values));
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
  std::uint16_t* bf16_y;  // null, or instead of y
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
  LAB_DEVICE bool adds() const { return args.bias != nullptr; }
  LAB_DEVICE bool is_bf16() const { return args.bf16_y != nullptr; }
  LAB_DEVICE bool adds_to_bf16() const { return false; }
  LAB_DEVICE simt::GlobalPtr<std::uint16_t> bf16_row(int row) const {
    return simt::global(args.bf16_y) + std::int64_t{row} * args.out_c;
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
  std::uint16_t* bf16_dx;  // null, or instead of dx
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
    if (!adds()) return;
    add_run<kWide, kRun>(simt::global(args.dx) + offset_of(row), col, args.in_c, sums);
  }
  LAB_DEVICE void write(int row, int col, const float* sums) const {
    write_run<kWide, kRun>(simt::global(args.dx) + offset_of(row), col, args.in_c, sums);
  }
  LAB_DEVICE bool adds() const { return args.accumulate && !is_bf16(); }
  LAB_DEVICE bool is_bf16() const { return args.bf16_dx != nullptr; }
  LAB_DEVICE bool adds_to_bf16() const { return args.accumulate; }
  LAB_DEVICE simt::GlobalPtr<std::uint16_t> bf16_row(int row) const {
    return simt::global(args.bf16_dx) + offset_of(row);
  }

 private:
  LAB_DEVICE std::int64_t offset_of(int row) const {
    const auto [image, place] = divide(row, phase.dy.grid_size);
    const auto [down, across] = divide(place, phase.dy.grid_width);
    const std::int64_t line = std::int64_t{image} * args.in_h + phase.first_y + down * args.stride;
    const std::int64_t pixel = line * args.in_w + phase.first_x + across * args.stride;
    return pixel * args.in_c;
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
  float* partials;  // [splits, taps, out_c]; by wgmma [splits, out_c, taps]; dweight if it is one
  int out_c;
  int split_terms;  // pixels per split
};

// The part of the product C [m, n] of the split grid.z.
LAB_DEVICE ProductPart split_of(const WeightGradientArgs& args, int m, int n) {
  const int split = simt::block_idx().z;
  const std::int64_t end = std::int64_t{split + 1} * args.split_terms;
  const int pixels = args.x.grid_pixels;
  return {m, n, split * args.split_terms, end < pixels ? static_cast<int>(end) : pixels};
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
    multiply_tile<Tile, kWide>(split_of(args, args.x.taps, args.out_c), TapRows{args.x}, dy,
                               WeightGradientOutput<kWide, Tile::kRun>{args});
  }
};

// dweight [out_c, taps] = the sums of the partials [splits, taps, out_c], in FP64. A block adds
// those of kChannels channels and kTaps taps, whose splits kParts threads share; each thread adds
// kWidth channels. The sums are transposed in shared memory, so that both arrays are accessed along
// their rows.
template <int kWidth, int kSharing>
struct SplitSumKernel {
  struct Args {
    const float* partials;
    float* dweight;
    int splits, taps, out_c;
  };
  static constexpr const char* kName = "sum of weight gradients";
  static constexpr int kChannels = 32;
  static constexpr int kParts = kSharing;
  static constexpr int kAcross = kChannels / kWidth;
  static constexpr int kThreads = kAcross * kParts < 256 ? 256 : kAcross * kParts;
  static constexpr int kTaps = kThreads / kAcross / kParts;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(double, shared, kParts* kTaps* kPitch);
    const int t = simt::thread_idx().x;
    const int first_tap = simt::block_idx().x * kTaps, tap = t / kAcross % kTaps;
    const int first_channel = simt::block_idx().y * kChannels, channel = t % kAcross * kWidth;
    const int part = t / kAcross / kTaps;
    double sums[kWidth] = {};
    if (first_tap + tap < args.taps && first_channel + channel < args.out_c) {
      const std::int64_t pitch = std::int64_t{args.taps} * args.out_c;
      const auto from = simt::global(args.partials) +
                        (std::int64_t{first_tap + tap} * args.out_c + first_channel + channel);
      LAB_UNROLL_BY(8)
      for (int split = part; split < args.splits; split += kParts) {
        float values[kWidth];
        read_columns(values, from + split * pitch);
        LAB_UNROLL
        for (int e = 0; e < kWidth; ++e) sums[e] += static_cast<double>(values[e]);
      }
    }
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      shared[(part * kTaps + tap) * kPitch + channel + e] = sums[e];
    }
    simt::sync_threads();
    for (int i = t; i < kTaps * kChannels; i += kThreads) {
      const int to_tap = i % kTaps, to_channel = i / kTaps;
      if (first_tap + to_tap >= args.taps || first_channel + to_channel >= args.out_c) continue;
      double total = 0;
      LAB_UNROLL
      for (int p = 0; p < kParts; ++p) {
        const double more = shared[(p * kTaps + to_tap) * kPitch + to_channel];
        total += more;
      }
      simt::global(
          args.dweight)[std::int64_t{first_channel + to_channel} * args.taps + first_tap + to_tap] =
          static_cast<float>(total);
    }
  }

 private:
  static constexpr int kPitch = kChannels + 1;  // without bank conflicts in either direction
};

}  // namespace lab::cuda
