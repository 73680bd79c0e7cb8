#pragma once
// The parts of Winograd's algorithm between its transforms. Internal to convolution.
#include <cstdint>

#include "compute/kernels/convolution/packed_products.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/conv_shape.h"
#include "compute/kernels/ops/winograd.h"
#include "compute/machine/slice.h"

namespace lab::winograd {

// ---- How images are cut into tiles

struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t size() const { return height * width * channels; }
};

// `to` is computed in tiles from `from`, which has `padding` zeros around it.
struct Filtering {
  Image from, to;
  std::int64_t padding = 0;
};

inline Filtering forward_filtering(const simd::ConvShape& s) {
  return {{s.in_h, s.in_w, s.in_c}, {s.out_h, s.out_w, s.out_c}, s.padding};
}

// The input's gradient is a convolution of the output's gradient.
inline Filtering backward_filtering(const simd::ConvShape& s) {
  return {{s.out_h, s.out_w, s.out_c}, {s.in_h, s.in_w, s.in_c}, 2 - s.padding};
}

// The tiles of outputs x outputs pixels of a batch, row by row and image by image.
class Tiles {
 public:
  Tiles(const Image& image, int outputs)
      : outputs_(outputs),
        in_row_(ceil_div(image.width, outputs)),
        in_image_(in_row_ * ceil_div(image.height, outputs)) {}
  std::int64_t in_image() const { return in_image_; }
  std::int64_t image(std::int64_t tile) const { return tile / in_image_; }
  // Where the tile begins in its image `of`, less `margin` pixels.
  simd::TilePlace place(std::int64_t tile, const Image& of, std::int64_t margin) const {
    const std::int64_t t = tile % in_image_;
    return {of.height, of.width, of.channels, t / in_row_ * outputs_ - margin,
            t % in_row_ * outputs_ - margin};
  }

 private:
  const std::int64_t outputs_, in_row_, in_image_;
};

// ---- The matrix products between the transforms, one for each point

// Points lie this much further apart than they need to: with a power of two between them all would
// fall into the same few lines of the caches.
constexpr std::int64_t kGapFloats = 48;

// Kernels are transformed in blocks of a strip of the channels that a product computes by this many
// of those that it sums over.
constexpr std::int64_t kKernelRows = simd::kWinogradChannels;

// Transformed kernels U: one packed factor [summed channels, computed channels] a point.
struct Kernels {
  int points = 0;
  PackedFactor first;  // point 0's; the others follow, point_words() apart

  std::int64_t point_words() const { return first.words() + kGapFloats; }
  std::int64_t words() const { return points * point_words(); }
  PackedFactor at(int point) const;

  // Floats that transforming a block needs: none for FP32, which goes straight to its place.
  std::int64_t block_floats() const;
  // Where the transforms of the block's rows are to be written, its first row as row 0, and what
  // brings them to their place afterwards. `channel` begins a strip; `memory` has block_floats().
  simd::PointArray block(std::int64_t channel, std::int64_t row, float* memory) const;
  void store_block(std::int64_t channel, std::int64_t row, const simd::PointArray& block) const;

  // M[p] = V[p] * U[p] for every point, V and M row by row; `work` has first.work_floats(tiles).
  void multiply(const simd::PointArray& v, const simd::PointArray& m, std::int64_t tiles,
                float* work) const;
};

// dU[p] (+)= D[p]^T * V[p] for every point.
struct Gradients {
  int points = 0;
  std::int64_t inputs = 0;  // channels of V
  simd::PointArray d;       // gradients of outputs, row by row
  simd::PointArray v;       // inputs in strips
  float* sums = nullptr;
  std::int64_t sums_stride = 0;  // floats from point to point
  Precision products = Precision::F32;

  TransposedProduct at(std::int64_t point) const;
  // Rows of tiles of all points: what can be shared out among threads.
  std::int64_t row_tiles() const { return points * at(0).row_tiles(); }
  void multiply(Slice row_tiles, std::int64_t tiles, bool accumulate, float* work) const;
};

}  // namespace lab::winograd
