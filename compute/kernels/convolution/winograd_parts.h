#pragma once
// Tiling and matrix products of Winograd convolution, used between its transforms. Internal to the
// convolution module.
#include <cstdint>

#include "compute/kernels/convolution/packed_products.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/conv_shape.h"
#include "compute/kernels/ops/winograd.h"
#include "compute/machine/slice.h"

namespace lab::winograd {

// ---- Tiling of images

struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
};

// `to` is computed in tiles from `from`, which is surrounded by `padding` zeros.
struct Filtering {
  Image from, to;
  std::int64_t padding = 0;
};

inline Filtering forward_filtering(const simd::ConvShape& s) {
  return {{s.in_h, s.in_w, s.in_c}, {s.out_h, s.out_w, s.out_c}, s.padding};
}

// The input gradient is a convolution of the output gradient.
inline Filtering backward_filtering(const simd::ConvShape& s) {
  return {{s.out_h, s.out_w, s.out_c}, {s.in_h, s.in_w, s.in_c}, 2 - s.padding};
}

// Tiles of outputs x outputs pixels of `image`, or around them pixels of the `from` that they are
// computed from.
simd::TileGrid output_tiles(const Image& image, int outputs);
simd::TileGrid input_tiles(const Filtering& f, int outputs);

// ---- Matrix products between the transforms, one per point

// Padding between points. At power-of-two distances all points would map to the same few cache
// sets.
constexpr std::int64_t kGapFloats = 48;

// Kernels are transformed in blocks of one strip of computed channels by this many summed channels.
constexpr std::int64_t kKernelRows = simd::kWinogradChannels;

// The forms of points whose neighbouring terms of a product are channels of a row, or rows.
simd::PointForm form_of_channels(Precision products);
simd::PointForm form_of_rows(Precision products);
// Words that hold `terms` terms, in either of these forms.
std::int64_t words_of(Precision products, std::int64_t terms);

// Transformed kernels U: one packed operand [summed channels, computed channels] per point.
struct Kernels {
  int points = 0;
  PackedOperand first;  // of point 0; the others follow at intervals of point_words()

  std::int64_t point_words() const { return first.words() + kGapFloats; }
  std::int64_t words() const { return points * point_words(); }
  PackedOperand at(int point) const;

  // Where the transforms of a block are written, whose first row is row 0; `channel` is the first
  // of a strip.
  simd::PointArray block(std::int64_t channel, std::int64_t row) const;

  // M[p] (+)= V[p] * U[p] for every point; V and M are row-major. A row of V has `v_row` words.
  void multiply(const simd::PointArray& v, std::int64_t v_row, const simd::PointArray& m,
                std::int64_t tiles, bool accumulate) const;
};

// Sums of a weight gradient before G^T dU G: those of point p, output channel o and input channel i
// are at data[p * point_stride + o * output_stride + i].
struct SumRange {
  Slice points, outputs, inputs;
};
struct Sums {
  float* data = nullptr;
  std::int64_t point_stride = 0, output_stride = 0;

  // The sums of a range, as an array that begins with the first of them.
  Sums at(const SumRange& range) const {
    return {data + range.points.begin * point_stride + range.outputs.begin * output_stride +
                range.inputs.begin,
            point_stride, output_stride};
  }
};

// dU[p] (+)= D[p]^T * V[p] for every point.
struct Gradients {
  simd::PointArray d;  // output gradients, in strips of whole rows of the products' tiles
  simd::PointArray v;  // inputs, in strips of the products' tile columns
  Precision products = Precision::F32;

  // Computes `range` from `tiles` tiles; its channels begin with a row of tiles and with a strip.
  // `sums` has the first of them at 0.
  void multiply(const SumRange& range, std::int64_t tiles, bool accumulate, const Sums& sums) const;
};

}  // namespace lab::winograd
