#pragma once
// Convolutions with 3x3 taps of images with 64 channels, by wgmma on strips of pixels. A strip is
// read from global memory once for all taps, where wgmma_product.cuh reads its pixels once per tap.
//
// In shared memory, images lie in lines of width + 1 pixels, one of zeros, with a line of zeros
// before, between and after them. So the neighbours of every pixel are at the same distances, and
// the zeros around an image are neighbours like any other. Places in these lines are the rows of
// the forward and the input gradient, which compute those of the zeros too and do not write them,
// and the terms of the weight gradient.
//
// Limits   in_c and out_c 64; kernel 3, stride 1, padding 1; width below kMostPitch; otherwise as
//          in wgmma_convolution.cuh
// Work     forward, 28x28 images: 1.07*2*64*576 FLOP per pixel, which is 0.1 us per image on an
//          H200's tensor cores, and 128 bytes read, 256 written, 128 to bf16: 0.08 us and 0.05 us
//          at 4 TB/s
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/kernel/wgmma.h"
#include "compute/gpu/cuda/layers/convolution/convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/rounding.cuh"
#include "compute/gpu/cuda/layers/convolution/wgmma_product.cuh"

namespace lab::cuda {

inline constexpr int kStripChannels = 64;  // one row of a box
inline constexpr int kStripPlaces = 128;   // computed at once, or terms of a step
inline constexpr int kMostPitch = 32;
inline constexpr int kTapsAcross = 3;
// Of the places of a step and their neighbours; a multiple of 8.
inline constexpr int kStripRows = (kStripPlaces + 2 * kMostPitch + 2 + 7) / 8 * 8;
inline constexpr int kStripBytes = kStripRows * simt::kBoxRowBytes;

// ---- Images with zeros around them

struct PaddedImages {
  int images = 0, height = 0, width = 0;
  int pitch = 0;  // places per line
  Divisor by_pitch, by_lines;

  static PaddedImages of(const GpuConvolution& c) {
    return {.images = static_cast<int>(c.images),
            .height = static_cast<int>(c.in_h),
            .width = static_cast<int>(c.in_w),
            .pitch = static_cast<int>(c.in_w + 1),
            .by_pitch = Divisor::of(c.in_w + 1),
            .by_lines = Divisor::of(c.in_h + 1)};
  }
  // The place of the first pixel, whose first neighbour is place 0.
  LAB_DEVICE int first() const { return pitch + 1; }
  // The number of places from the first pixel's to the last one's.
  std::int64_t span() const { return std::int64_t{images} * (height + 1) * pitch - (pitch + 1); }

  // The pixel at a place, or -1.
  LAB_DEVICE int pixel(int place) const {
    if (place < first()) return -1;
    const auto [line, x] = divide(place - 1, by_pitch);
    const auto [image, y] = divide(line - 1, by_lines);
    return image < images && y < height && x < width ? (image * height + y) * width + x : -1;
  }
};

// Starts copying `count` places from `first` on of images with kStripChannels channels. The 8
// threads of a row find the pixels of 8 rows, one each.
template <int kThreads>
LAB_DEVICE void copy_places(Words to, const PaddedImages& images, const std::uint16_t* elements,
                            int first, int count) {
  constexpr int kRowsPerTurn = kThreads / 8, kTurns = 8;
  for (int begin = copied_row(); begin - copied_row() < count; begin += kTurns * kRowsPerTurn) {
    const int found = images.pixel(first + begin + copied_piece() * kRowsPerTurn);
    LAB_UNROLL
    for (int turn = 0; turn < kTurns; ++turn) {
      const int pixel = simt::shuffle(found, simt::lane() / 8 * 8 + turn);
      const int row = begin + turn * kRowsPerTurn;
      if (row >= count) continue;
      const std::int64_t source = pixel < 0 ? 0 : pixel;
      copy_piece(to, row, elements + source * kStripChannels + copied_piece() * 8, pixel >= 0);
    }
  }
}

// ---- Forward and input gradient

// Persistent blocks, two per SM, keep the weights in shared memory and compute 128 places at a
// time; while one of them writes, the other one multiplies. `a`: x or dy. `b`: weight.
template <bool kScaled, bool kBackward>
struct StripKernel {
  struct Args {
    std::conditional_t<kBackward, InputGradientArgs, ConvolutionForwardArgs> pass;
    PaddedImages images;
    int steps;
    Rounded a, b;
  };
  static constexpr const char* kName =
      kBackward ? "convolution input gradient by strips" : "convolution forward by strips";
  static constexpr int kThreads = 256;
  static constexpr int kBlocksPerSm = 2;
  static constexpr int kTaps = kTapsAcross * kTapsAcross;
  static constexpr int kWeightBytes = kTaps * simt::kBoxBytes;
  static constexpr int kDynamicBytes = kWeightBytes + kStripBytes + simt::kBoxAlignment;

  static LAB_DEVICE void run(const Args& args) {
    LAB_DYNAMIC_SHARED(std::uint32_t, shared);
    const Words weights = simt::first_box(shared);
    const Words strip = weights + kWeightBytes / 4;
    copy_weights(weights, args.b.elements);
    copy_strip(args, strip, simt::block_idx().x);
    LAB_NO_UNROLL
    for (int step = simt::block_idx().x; step < args.steps; step += simt::grid_dim().x) {
      simt::copy_wait<0>();
      simt::publish_stores();
      simt::sync_threads();
      float sums[kStripChannels / 8][4] = {};
      multiply(sums, simt::box_at(strip), simt::box_at(weights), args.images.pitch);
      simt::sync_threads();
      copy_strip(args, strip, step + simt::grid_dim().x);
      if constexpr (kScaled) unscale(sums, args.a, args.b);
      write(args, step, sums);
    }
  }

 private:
  // A box per tap, whose rows are output channels.
  static LAB_DEVICE void copy_weights(Words to, const std::uint16_t* weights) {
    for (int row = copied_row(); row < kTaps * kBox; row += kThreads / 8) {
      const int line = row % kBox * kTaps + row / kBox;
      copy_piece(to, row, weights + line * kStripChannels + copied_piece() * 8, true);
    }
  }
  static LAB_DEVICE void copy_strip(const Args& args, Words strip, int step) {
    if (step < args.steps) {
      copy_places<kThreads>(strip, args.images, args.a.elements, step * kStripPlaces,
                            kStripPlaces + 2 * args.images.first());
    }
    simt::copy_commit();
  }
  static LAB_DEVICE void multiply(float (&sums)[kStripChannels / 8][4], simt::Box strip,
                                  simt::Box weights, int pitch) {
    const int group = simt::thread_idx().x / simt::kWarpgroupThreads;
    simt::wgmma_begin();
    LAB_UNROLL
    for (int tap = 0; tap < kTaps; ++tap) {
      const int met = kBackward ? kTaps - 1 - tap : tap;
      const int row = group * simt::kWgmmaRows + met / kTapsAcross * pitch + met % kTapsAcross;
      LAB_UNROLL
      for (int k = 0; k < kBox / simt::kWgmmaSlots; ++k) {
        simt::wgmma<element_of(kScaled), true, !kBackward>(sums, strip + row * simt::kBoxRowBytes,
                                                           weights + tap * simt::kBoxBytes, k);
      }
    }
    simt::wgmma_commit();
    simt::wgmma_finish(sums);
  }
  static LAB_DEVICE void write(const Args& args, int step, float (&sums)[kStripChannels / 8][4]) {
    if constexpr (kBackward) {
      write_to(InputGradientOutput<true, 2>{args.pass, args.pass.phases[0]}, args.images, step,
               sums);
    } else {
      write_to(ForwardOutput<true, 2>{args.pass}, args.images, step, sums);
    }
  }
  template <class Output>
  static LAB_DEVICE void write_to(const Output& output, const PaddedImages& images, int step,
                                  float (&sums)[kStripChannels / 8][4]) {
    const int first = images.first() + step * kStripPlaces;
    leave_sums<kScaled>(sums, output, 0, [&](int row) { return images.pixel(first + row); });
  }
};

// ---- Weight gradient

// A block computes all weights from its split of the places, grid.z; each of its three warpgroups
// those of three taps in a row.
template <bool kScaled>
struct StripWeightGradientKernel {
  struct Args {
    WeightGradientArgs pass;
    PaddedImages images;
    int steps, split_steps;
    Rounded x, dy;
  };
  static constexpr const char* kName = "convolution weight gradient by strips";
  static constexpr int kThreads = kTapsAcross * simt::kWarpgroupThreads;
  static constexpr int kBlocksPerSm = 1;
  static constexpr int kStages = 3;
  static constexpr int kStageBytes = kStripBytes + kStripPlaces * simt::kBoxRowBytes;
  static constexpr int kDynamicBytes = kStages * kStageBytes + simt::kBoxAlignment;

  static LAB_DEVICE void run(const Args& args) {
    LAB_DYNAMIC_SHARED(std::uint32_t, shared);
    const Words stages = simt::first_box(shared);
    const int begin = simt::block_idx().z * args.split_steps;
    const int most = begin + args.split_steps;
    const int end = most < args.steps ? most : args.steps;
    LAB_UNROLL
    for (int s = 0; s < kStages - 1; ++s) {
      copy_step(args, stages + s * (kStageBytes / 4), begin + s, end);
    }
    const int down = simt::thread_idx().x / simt::kWarpgroupThreads;
    const int row = down * args.images.pitch;
    float sums[kTapsAcross][kStripChannels / 8][4] = {};
    int slot = 0;
    LAB_NO_UNROLL
    for (int step = begin; step < end; ++step) {
      simt::copy_wait<kStages - 2>();
      simt::publish_stores();
      finish(sums);
      simt::sync_threads();  // the stage is complete, and the one before it has been read
      const simt::Box strip = simt::box_at(stages) + slot * kStageBytes;
      simt::wgmma_begin();
      LAB_UNROLL
      for (int across = 0; across < kTapsAcross; ++across) {
        LAB_UNROLL
        for (int k = 0; k < kStripPlaces / simt::kWgmmaSlots; ++k) {
          simt::wgmma<element_of(kScaled), false, false>(
              sums[across], strip + kStripBytes, strip + (row + across) * simt::kBoxRowBytes, k);
        }
      }
      simt::wgmma_commit();
      const int filled = slot == 0 ? kStages - 1 : slot - 1;
      copy_step(args, stages + filled * (kStageBytes / 4), step + kStages - 1, end);
      slot = slot == kStages - 1 ? 0 : slot + 1;
    }
    finish(sums);
    LAB_UNROLL
    for (int across = 0; across < kTapsAcross; ++across) {
      if constexpr (kScaled) unscale(sums[across], args.x, args.dy);
      const int first = (down * kTapsAcross + across) * kStripChannels;
      for_each_pair(sums[across], [&](int r, int col, const float* pair) {
        OrderedGradientOutput{args.pass}.write(r - down * simt::kWgmmaRows, first + col, pair);
      });
    }
  }

 private:
  static LAB_DEVICE void copy_step(const Args& args, Words stage, int step, int end) {
    if (step < end) {
      const int first = step * kStripPlaces;
      copy_places<kThreads>(stage, args.images, args.x.elements, first,
                            kStripPlaces + 2 * args.images.first());
      copy_places<kThreads>(stage + kStripBytes / 4, args.images, args.dy.elements,
                            first + args.images.first(), kStripPlaces);
    }
    simt::copy_commit();
  }
  static LAB_DEVICE void finish(float (&sums)[kTapsAcross][kStripChannels / 8][4]) {
    LAB_UNROLL
    for (int across = 0; across < kTapsAcross; ++across) simt::wgmma_finish(sums[across]);
  }
};

// ---- Launches

inline bool is_strip_shape(const GpuConvolution& c) {
  return c.kernel == kTapsAcross && c.stride == 1 && c.padding == 1 && c.in_c == kStripChannels &&
         c.out_c == kStripChannels && c.in_w < kMostPitch;
}

inline int strip_steps(const GpuConvolution& c) {
  return tiles_of(PaddedImages::of(c).span(), kStripPlaces);
}

// A block per SM.
inline WeightSplit strip_split(const GpuConvolution& c, int multiprocessors) {
  const int steps = strip_steps(c);
  WeightSplit split;
  split.most = std::min(steps, multiprocessors);
  const int split_steps = tiles_of(steps, split.most);
  split.terms = split_steps * kStripPlaces;
  split.splits = tiles_of(steps, split_steps);
  return split;
}

// `a` and `b` as in StripKernel.
template <bool kBackward, class Launcher, class Pass>
void launch_strips(Launcher& launcher, const GpuConvolution& c, const Pass& pass, const Rounded& a,
                   const Rounded& b, GpuStream& stream) {
  const PaddedImages images = PaddedImages::of(c);
  const int steps = strip_steps(c);
  const auto launch = [&]<bool kScaled>() {
    using Kernel = StripKernel<kScaled, kBackward>;
    const int blocks = std::min(steps, Kernel::kBlocksPerSm * launcher.multiprocessors());
    launcher.template launch<Kernel>({.x = blocks}, {pass, images, steps, a, b}, stream);
  };
  with_scaled(c.precision, launch);
}

template <class Launcher>
void strip_weight_gradient(Launcher& launcher, const GpuConvolution& c,
                           const WeightGradientArgs& pass, const Rounded& x, const Rounded& dy,
                           const WeightSplit& split, GpuStream& stream) {
  const auto launch = [&]<bool kScaled>() {
    launcher.template launch<StripWeightGradientKernel<kScaled>>(
        {.z = split.splits},
        {pass, PaddedImages::of(c), strip_steps(c), split.terms / kStripPlaces, x, dy}, stream);
  };
  with_scaled(c.precision, launch);
}

}  // namespace lab::cuda
