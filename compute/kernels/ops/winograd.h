#pragma once
// Transforms of Winograd's minimal filtering F(m x m, 3 x 3), m = 2 or 4. The convolution of a tile
// of (m+2) x (m+2) pixels becomes (m+2)^2 products, one per point:
//   Y  = A^T [(G g G^T) . (B^T d B)] A     for an image tile d and a kernel g
//   dg = G^T [(A dY A^T) . (B^T d B)] G    gradient of g, summed over tiles
// The points are 0, +-1, inf for m = 2 and 0, +-5/8, +-3/2, inf for m = 4. The constants for m = 4
// are exact or nearly exact in FP32, and the error is less than half that of the usual points 0,
// +-1, +-2, inf.
//
// Limits   channels are a multiple of 16
// Numerics FP32; results may be rounded to bf16
// Source   Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016; points after
//          Barabasz et al., "Error Analysis and Improving the Accuracy of Winograd Convolution",
//          2020
#include <cstdint>

namespace lab::simd {

// Every transform handles a multiple of this number of channels, for any vector length. Kernels and
// their gradients may have fewer, a multiple of the vector length.
inline constexpr std::int64_t kWinogradChannels = 16;

// The tiles of a batch of images or their gradients, row by row and image by image: squares at
// distances of m pixels, of which the first of an image begins `margin` pixels above and left of
// it. Parts of a tile may be outside its image.
struct TileGrid {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t pixel_stride = 0;  // floats; channels after the first `channels` are left out
  std::int64_t in_row = 0, in_image = 0;  // tiles
  std::int64_t margin = 0;
};

// How points are stored: as the words of 32 bits that a micro-kernel reads (bf16_kernels.h).
enum class PointForm {
  F32,
  RoundedF32,        // rounded to bf16 and widened again
  Bf16ChannelPairs,  // two channels per word; of a processor with AVX512-BF16, like the next
  Bf16RowPairs,      // rows 2i and 2i + 1 in the halves of a word, written together
};

// Transformed tiles or kernels. Point p, row r, channel c is at
//   data[p * point_stride + c / strip * strip_stride + r * strip + c % strip]
// with r / 2 instead of r if rows are paired; if channels are, its word is
//   data[p * point_stride + (r * strip + c) / 2], in one strip
// A strip is the number of channels that the matrix product reads contiguously, a multiple of the
// vector length.
struct PointArray {
  float* data = nullptr;
  std::int64_t point_stride = 0, strip_stride = 0, strip = 0;
  PointForm form = PointForm::F32;
};

// Kernels [3, 3, channels], whose taps are `tap_stride` floats apart; each becomes a row of points.
// An even number of them if rows are paired.
struct KernelRows {
  const float* data = nullptr;
  std::int64_t rows = 0, row_stride = 0, tap_stride = 0;
  std::int64_t channels = 0;
  bool rotated = false;  // by 180 degrees
};

// Functions that write `count` tiles or kernels write rows [row, row + count). If rows are paired,
// `row` is even, and so is `count` unless it reaches the last row; the last word's other half is
// then 0 or -0.
struct WinogradTransforms {
  // Writes B^T d B of tiles of (m+2) x (m+2) pixels, 0 outside the images.
  void (*input)(const float* images, const TileGrid& grid, std::int64_t first, std::int64_t count,
                const PointArray& to, std::int64_t row);
  // Writes A dY A^T of tiles of m x m pixels, 0 outside the images; not in pairs of channels.
  void (*output_gradient)(const float* images, const TileGrid& grid, std::int64_t first,
                          std::int64_t count, const PointArray& to, std::int64_t row);
  // Writes A^T M A of rows [0, count), plus `bias` unless null, to those of m x m pixels that are
  // inside the images; adds to them if `accumulate`. The points are FP32.
  void (*output)(const PointArray& from, std::int64_t count, const float* bias, bool accumulate,
                 const TileGrid& grid, std::int64_t first, float* images);
  // Writes G g G^T, not in pairs of channels.
  void (*kernel)(const KernelRows& kernels, const PointArray& to, std::int64_t row);
  // Writes G^T dU G to a kernel gradient [3, 3, channels], whose taps are `tap_stride` floats
  // apart, or adds to it if `accumulate`; points are `point_stride` floats apart.
  void (*kernel_gradient)(const float* points, std::int64_t point_stride, std::int64_t channels,
                          bool accumulate, float* d_kernel, std::int64_t tap_stride);
};

// Returns the transforms for m = `outputs`, 2 or 4, on this processor's best instruction set.
const WinogradTransforms& winograd_transforms(int outputs);

}  // namespace lab::simd
