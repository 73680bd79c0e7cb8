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

// Every transform handles a multiple of this number of channels, for any vector length.
inline constexpr std::int64_t kWinogradChannels = 16;

// An image or its gradient, and the position of a tile in it. Parts of the tile may be outside.
struct TilePosition {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t y = 0, x = 0;
};

// How points are stored: as the words of 32 bits that a micro-kernel reads (bf16_kernels.h).
enum class PointForm {
  F32,
  RoundedF32,        // rounded to bf16 and widened again
  Bf16ChannelPairs,  // two channels per word; of a processor with AVX512-BF16, like the next
  Bf16RowPairs,      // rows 2i and 2i + 1 in the halves of a word; the even one is written first,
                     // and sets the other half to 0
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

struct WinogradTransforms {
  // Writes B^T d B of (m+2) x (m+2) pixels, 0 outside the image, to row `row`.
  void (*input)(const float* image, const TilePosition& at, const PointArray& to, std::int64_t row);
  // Writes A dY A^T of m x m pixels, 0 outside the image, to row `row`; not in pairs of channels.
  void (*output_gradient)(const float* image, const TilePosition& at, const PointArray& to,
                          std::int64_t row);
  // Writes A^T M A of row `row`, plus `bias` unless null, to those of m x m pixels that are inside
  // the image; adds to them if `accumulate`. The points are FP32.
  void (*output)(const PointArray& from, std::int64_t row, const float* bias, bool accumulate,
                 const TilePosition& at, float* image);
  // Writes G g G^T of a kernel [3, 3, tap_stride], of which the first `channels` channels are used,
  // to row `row`, not in pairs of channels. The kernel is rotated by 180 degrees if `rotated`.
  void (*kernel)(const float* kernel, std::int64_t tap_stride, std::int64_t channels, bool rotated,
                 const PointArray& to, std::int64_t row);
  // Writes G^T dU G to a kernel gradient [3, 3, channels]; points are `point_stride` floats apart.
  void (*kernel_gradient)(const float* points, std::int64_t point_stride, std::int64_t channels,
                          float* d_kernel);
};

// Returns the transforms for m = `outputs`, 2 or 4, on this processor's best instruction set.
const WinogradTransforms& winograd_transforms(int outputs);

}  // namespace lab::simd
