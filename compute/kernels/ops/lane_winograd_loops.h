#pragma once
// Inner loops of Winograd's minimal filtering on blocks of images in lane layout (image_lanes.h),
// for kernels of 5x5 pixels: F(5, 5) on columns, nested with F(2, 5) on rows. A tile of 9x6 input
// pixels gives 5x2 output pixels with 54 products per pair of channels instead of 250:
//   Y  = A1^T [(G1 g G2^T) . (B1^T d B2)] A2    for an input tile d and a kernel g
//   dd = B1 [(G1 g G2^T) . (A1 dY A2^T)] B2^T   gradient of d, summed over tiles that overlap
//   dg = G1^T [(A1 dY A2^T) . (B1^T d B2)] G2   gradient of g, summed over tiles
// Every transform is applied to columns first, which gives nine rows of values, one per point; the
// loops below then handle one of these rows at a time. The points of columns are 0, +-7/16, +-7/8,
// +-3/2 and +-4, those of rows 0, infinity, +-5/8 and +-3/2, for which errors are small; they are
// in pairs, which share the even and odd parts of sums.
//
// Limits   any sizes >= 1; vectors are 64-byte aligned; distances are in vectors except in
//          transformed kernels and sums of their gradients, which are floats
// Numerics FP32; errors are three to ten times those of sums by definition
// Threads  the calling thread
// Source   Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016
#include <array>
#include <cstdint>

#include "compute/kernels/ops/image_lanes.h"

namespace lab::simd {

inline constexpr std::int64_t kLaneKernel = 5;  // width and height of the kernel
// A tile's output pixels.
inline constexpr std::int64_t kLaneTileHeight = 5, kLaneTileWidth = 2;
// A tile's input pixels, and its points.
inline constexpr std::int64_t kLaneRows = kLaneTileHeight + kLaneKernel - 1;
inline constexpr std::int64_t kLaneColumns = kLaneTileWidth + kLaneKernel - 1;

// Input pixels that a row of `tiles` tiles covers.
constexpr std::int64_t lane_tiles_width(std::int64_t tiles) {
  return kLaneTileWidth * tiles + kLaneColumns - kLaneTileWidth;
}

// to[p * to_stride + e] = sum over i of B1^T[p, i] * rows[i][e], for e in [0, n)
void lane_input_columns(const std::array<const float*, kLaneRows>& rows, std::int64_t n, float* to,
                        std::int64_t to_stride);

// The other half of the input's transform for one row of points: reads [lane_tiles_width(tiles),
// channels] and writes the points of tile t and channel c to
//   to + p / 2 * pair_stride + (t * channels + c) * 2 + p % 2
void lane_input_points(const float* from, std::int64_t tiles, std::int64_t channels, float* to,
                       std::int64_t pair_stride);

// One row of points of a row of tiles.
struct LaneOutputs {
  const float* input = nullptr;  // as lane_input_points() wrote it
  std::int64_t pair_stride = 0;
  std::int64_t tiles = 0, in_channels = 0, out_channels = 0;
  const float* kernels = nullptr;  // a row of lane_kernel_points(.., in_channels, out_channels)
  float* out = nullptr;            // [2 * tiles, out_channels]
};
// Multiplies points and kernels, sums over the input channels, and applies A2^T to each row.
void lane_outputs(const LaneOutputs& row);

// Applies A1^T to columns of [width, channels] outputs of lane_outputs(), adds the bias, and writes
// the image's rows. Point p is at from + p * stride.
struct LaneOutputColumns {
  const float* from = nullptr;
  std::int64_t stride = 0;
  std::int64_t width = 0, channels = 0;
  const float* bias = nullptr;          // [channels] or null
  float* to = nullptr;                  // [rows, width, channels]
  std::int64_t to_stride = 0;           // of rows
  std::int64_t rows = kLaneTileHeight;  // inside the image, 1..kLaneTileHeight
};
void lane_output_columns(const LaneOutputColumns& columns);

// Vectors between pixels of transformed gradients: odd, so that a few channels of many pixels do
// not share a few sets of a cache.
constexpr std::int64_t lane_gradient_stride(std::int64_t channels) {
  return channels | 1;
}

// Writes A1 times rows of an output gradient; rows outside the image count as zeros. Point p of
// pixel x and channel c is at to + p * to_stride + x * lane_gradient_stride(channels) + c. Odd
// columns are multiplied by 5/8, as the next two functions expect.
struct LaneGradientRows {
  const float* from = nullptr;          // [rows, width, channels]
  std::int64_t stride = 0;              // of rows
  std::int64_t rows = kLaneTileHeight;  // inside the image, 1..kLaneTileHeight
  std::int64_t width = 0, channels = 0;
};
void lane_gradient_columns(const LaneGradientRows& rows, float* to, std::int64_t to_stride);

// One row of points of some tiles.
struct LaneWeightSums {
  const float* input = nullptr;  // as lane_input_points() wrote it
  std::int64_t pair_stride = 0;
  const float* dy = nullptr;  // [tiles, 2] pixels of lane_gradient_columns()
  std::int64_t tiles = 0, in_channels = 0, out_channels = 0;
  float* sums = nullptr;  // [6, out_channels, in_channels] floats
};
// sums += products of the points of input and output gradient, summed over tiles and images.
void add_lane_weight_sums(const LaneWeightSums& row);

// One row of points of a row of tiles.
struct LaneInputGradients {
  const float* dy = nullptr;  // [tiles, 2] pixels of lane_gradient_columns()
  std::int64_t tiles = 0, in_channels = 0, out_channels = 0;
  const float* kernels = nullptr;  // a row of lane_kernel_points(.., out_channels, in_channels)
  float* to = nullptr;             // [lane_tiles_width(tiles), in_channels]
};
// Multiplies points and kernels, sums over the output channels, and applies B2 to each row.
void lane_input_gradients(const LaneInputGradients& row);

// Applies B1 to columns of rows of tiles that overlap. Point p of row t is n vectors at
//   from + t * tile_stride + p * point_stride
// Writes rows of `image`, n vectors each. The first row of the tiles is row `top` of the image;
// rows outside the image are dropped.
struct LaneGradientColumns {
  const float* from = nullptr;
  std::int64_t tile_stride = 0, point_stride = 0;
  std::int64_t tiles = 0, n = 0;
  float* image = nullptr;
  std::int64_t top = 0, height = 0;
  bool add_to_first = false;  // the tiles above have written the first four rows
};
void lane_input_gradient_columns(const LaneGradientColumns& columns);

// Writes G1 g G2^T of kernels [5, 5, summed channels, other channels] in the order in which
// lane_outputs() and lane_input_gradients() read them: a row of points is contiguous. `taps` is
// followed by room for 54 * summed * channels floats.
void lane_kernel_points(float* taps, std::int64_t summed, std::int64_t channels, float* to);
// Replaces points [9, 6, n] by G1^T dU G2, [5, 5, n].
void lane_kernel_gradients(float* points, std::int64_t n);

}  // namespace lab::simd
