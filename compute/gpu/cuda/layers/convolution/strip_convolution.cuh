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

#include "compute/gpu/cuda/kernel/copy_engine.h"
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
// Rows for the places of a step and their neighbours; a multiple of 8.
inline constexpr int kStripRows = (kStripPlaces + 2 * kMostPitch + 2 + 7) / 8 * 8;
inline constexpr int kStripBytes = kStripRows * simt::kBoxRowBytes;

// ---- Images with zeros around them

struct PaddedImages {
  int images = 0, height = 0, width = 0;
  int pitch = 0;       // places per line
  int strip_rows = 0;  // that the places of a step and their neighbours span; a multiple of 8
  Divisor by_pitch, by_lines;

  static PaddedImages of(const GpuConvolution& c) {
    return {.images = static_cast<int>(c.images),
            .height = static_cast<int>(c.in_h),
            .width = static_cast<int>(c.in_w),
            .pitch = static_cast<int>(c.in_w + 1),
            .strip_rows = static_cast<int>(kStripPlaces + 2 * (c.in_w + 2) + 7) / 8 * 8,
            .by_pitch = Divisor::of(c.in_w + 1),
            .by_lines = Divisor::of(c.in_h + 1)};
  }
  // The place of the first pixel, whose first neighbour is place 0.
  LAB_DEVICE int first() const { return pitch + 1; }
  // The number of places from the first pixel's to the last one's.
  std::int64_t span() const { return std::int64_t{images} * (height + 1) * pitch - (pitch + 1); }

  LAB_DEVICE simt::PixelPlace place(int index) const {
    const auto [line, x] = divide(index, by_pitch);
    const auto [image, y] = divide(line, by_lines);
    return {.x = x - 1, .y = y - 1, .image = image};
  }
  // The pixel at a place, or -1.
  LAB_DEVICE int pixel(int place) const {
    if (place < first()) return -1;
    const auto [line, x] = divide(place - 1, by_pitch);
    const auto [image, y] = divide(line - 1, by_lines);
    return image < images && y < height && x < width ? (image * height + y) * width + x : -1;
  }
};

// Boxes of the places of images with kStripChannels channels.
inline simt::PixelBoxes place_boxes(const PaddedImages& images, const std::uint16_t* elements,
                                    int box_rows) {
  return {.elements = elements,
          .images = images.images,
          .height = images.height,
          .width = images.width,
          .channels = kStripChannels,
          .first_y = -1,
          .first_x = -1,
          .grid_height = images.height + 1,
          .grid_width = images.pitch,
          .box_rows = box_rows};
}

// ---- Forward and input gradient

// Persistent blocks, one per SM, keep the weights in shared memory. Two pairs of warpgroups take
// turns with strips of 128 places: while one pair writes, the other multiplies. `a`: x or dy. `b`:
// weight.
template <bool kScaled, bool kBackward>
struct StripKernel {
  struct Args {
    std::conditional_t<kBackward, InputGradientArgs, ConvolutionForwardArgs> pass;
    PaddedImages images;
    int steps;
    Rounded a, b;
    simt::BoxMap strips;  // of images.strip_rows places
    simt::BoxMap weight;  // of kStripChannels rows
  };
  static constexpr const char* kName =
      kBackward ? "convolution input gradient by strips" : "convolution forward by strips";
  static constexpr int kPairs = 2;
  static constexpr int kPairWarps = 2 * kWarpgroupWarps;
  static constexpr int kThreads = (kPairs * kPairWarps + 1) * 32;
  static constexpr int kStrips = 6;
  static constexpr int kTaps = kTapsAcross * kTapsAcross;
  static constexpr int kWeightBytes = kTaps * simt::kBoxBytes;
  static constexpr int kDynamicBytes = kWeightBytes + kStrips * kStripBytes + simt::kBoxAlignment;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(simt::Barrier, full, kStrips);
    LAB_SHARED(simt::Barrier, empty, kStrips);
    LAB_SHARED(simt::Barrier, has_weights, 1);
    LAB_DYNAMIC_SHARED(std::uint32_t, shared);
    const simt::Box weights = simt::box_at(simt::first_box(shared));
    const simt::Box strips = weights + kWeightBytes;
    Ring<kStrips> ring{full, empty};
    if (simt::thread_idx().x == 0) simt::barrier_init(has_weights, 1);
    begin_ring(ring, kPairWarps);
    const int blocks = simt::grid_dim().x;
    if (simt::uniform_warp() == kPairs * kPairWarps) {
      if (simt::lane() != 0) return;
      copy_weights(args, weights, has_weights);
      LAB_NO_UNROLL
      for (int step = simt::block_idx().x; step < args.steps; step += blocks) {
        simt::barrier_wait<simt::WaitFor::Empty>(ring.empty(), ring.parity ^ 1);
        simt::barrier_expect(ring.full(), args.images.strip_rows * simt::kBoxRowBytes);
        simt::copy_pixels(strips + ring.slot * kStripBytes, args.strips, 0,
                          args.images.place(step * kStripPlaces), 0, 0, ring.full());
        ring.advance();
      }
      return;
    }
    const int pair = simt::uniform_warp() / kPairWarps;
    for (int i = 0; i < pair; ++i) ring.advance();
    simt::barrier_wait<simt::WaitFor::Weights>(has_weights, 0);
    LAB_NO_UNROLL
    for (int step = simt::block_idx().x + pair * blocks; step < args.steps;
         step += kPairs * blocks) {
      simt::barrier_wait<simt::WaitFor::Full>(ring.full(), ring.parity);
      float sums[kStripChannels / 8][4] = {};
      multiply(sums, strips + ring.slot * kStripBytes, weights, args.images.pitch);
      release(ring.empty());
      for (int i = 0; i < kPairs; ++i) ring.advance();
      if constexpr (kScaled) unscale(sums, args.a, args.b);
      write(args, step, pair, sums);
    }
  }

 private:
  // A box per tap, whose rows are output channels.
  static LAB_DEVICE void copy_weights(const Args& args, simt::Box to,
                                      simt::SharedPtr<simt::Barrier> done) {
    simt::barrier_expect(done, kWeightBytes);
    LAB_NO_UNROLL
    for (int tap = 0; tap < kTaps; ++tap) {
      simt::copy_weights(to + tap * simt::kBoxBytes, args.weight, 0, tap, 0, done);
    }
  }
  static LAB_DEVICE void multiply(float (&sums)[kStripChannels / 8][4], simt::Box strip,
                                  simt::Box weights, int pitch) {
    const int group = simt::uniform_warp() / kWarpgroupWarps % 2;
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
  static LAB_DEVICE void write(const Args& args, int step, int pair,
                               float (&sums)[kStripChannels / 8][4]) {
    const int first = args.images.first() + step * kStripPlaces - pair * kStripPlaces;
    const auto row_of = [&](int row) { return args.images.pixel(first + row); };
    if constexpr (kBackward) {
      leave_sums<kScaled>(sums, InputGradientOutput<true, 2>{args.pass, args.pass.phases[0]}, 0,
                          row_of);
    } else {
      leave_sums<kScaled>(sums, ForwardOutput<true, 2>{args.pass}, 0, row_of);
    }
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
    simt::BoxMap x_strips;   // of images.strip_rows places
    simt::BoxMap dy_places;  // of kStripPlaces
  };
  static constexpr const char* kName = "convolution weight gradient by strips";
  static constexpr int kConsumerWarps = kTapsAcross * kWarpgroupWarps;
  static constexpr int kThreads = (kConsumerWarps + 1) * 32;
  static constexpr int kStages = 4;
  static constexpr int kBytesOfDy = kStripPlaces * simt::kBoxRowBytes;
  static constexpr int kStageBytes = kStripBytes + kBytesOfDy;
  static constexpr int kDynamicBytes = kStages * kStageBytes + simt::kBoxAlignment;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(simt::Barrier, full, kStages);
    LAB_SHARED(simt::Barrier, empty, kStages);
    LAB_DYNAMIC_SHARED(std::uint32_t, shared);
    const simt::Box stages = simt::box_at(simt::first_box(shared));
    Ring<kStages> ring{full, empty};
    begin_ring(ring, kConsumerWarps);
    const int begin = simt::block_idx().z * args.split_steps;
    const int most = begin + args.split_steps;
    const int end = most < args.steps ? most : args.steps;
    if (simt::uniform_warp() == kConsumerWarps) {
      if (simt::lane() == 0) copy_steps(args, ring, stages, begin, end);
      return;
    }
    const int down = simt::uniform_warp() / kWarpgroupWarps;
    const int row = down * args.images.pitch;
    float sums[kTapsAcross][kStripChannels / 8][4] = {};
    int step = begin;  // a split has at least one
    LAB_NO_UNROLL
    do {
      simt::barrier_wait<simt::WaitFor::Full>(ring.full(), ring.parity);
      const simt::Box strip = stages + ring.slot * kStageBytes;
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
      simt::wgmma_wait<1>();
      if (step > begin) release(ring.last_empty());
      ring.advance();
    } while (++step < end);
    LAB_UNROLL
    for (int across = 0; across < kTapsAcross; ++across) {
      simt::wgmma_finish(sums[across]);
      if constexpr (kScaled) unscale(sums[across], args.x, args.dy);
      const int first = (down * kTapsAcross + across) * kStripChannels;
      leave_gradient(sums[across], args.pass, simt::block_idx().z, -down * simt::kWgmmaRows, first);
    }
  }

 private:
  static LAB_DEVICE void copy_steps(const Args& args, Ring<kStages> ring, simt::Box stages,
                                    int begin, int end) {
    const PaddedImages& images = args.images;
    LAB_NO_UNROLL
    for (int step = begin; step < end; ++step) {
      simt::barrier_wait<simt::WaitFor::Empty>(ring.empty(), ring.parity ^ 1);
      simt::barrier_expect(ring.full(), images.strip_rows * simt::kBoxRowBytes + kBytesOfDy);
      const simt::Box stage = stages + ring.slot * kStageBytes;
      const int first = step * kStripPlaces;
      simt::copy_pixels(stage, args.x_strips, 0, images.place(first), 0, 0, ring.full());
      simt::copy_pixels(stage + kStripBytes, args.dy_places, 0,
                        images.place(first + images.first()), 0, 0, ring.full());
      ring.advance();
    }
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
    launcher.template launch<Kernel>(
        {.x = std::min(steps, launcher.multiprocessors())},
        {pass, images, steps, a, b,
         launcher.map(place_boxes(images, a.elements, images.strip_rows)),
         launcher.map(weight_boxes(c, b, kStripChannels))},
        stream);
  };
  with_scaled(c.precision, launch);
}

template <class Launcher>
void strip_weight_gradient(Launcher& launcher, const GpuConvolution& c,
                           const WeightGradientArgs& pass, const Rounded& x, const Rounded& dy,
                           const WeightSplit& split, GpuStream& stream) {
  const PaddedImages images = PaddedImages::of(c);
  const auto launch = [&]<bool kScaled>() {
    launcher.template launch<StripWeightGradientKernel<kScaled>>(
        {.z = split.splits},
        {pass, images, strip_steps(c), split.terms / kStripPlaces, x, dy,
         launcher.map(place_boxes(images, x.elements, images.strip_rows)),
         launcher.map(place_boxes(images, dy.elements, kStripPlaces))},
        stream);
  };
  with_scaled(c.precision, launch);
}

}  // namespace lab::cuda
