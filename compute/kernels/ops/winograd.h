#pragma once
// The transforms of Winograd's minimal filtering F(m x m, 3 x 3), m = 2 or 4: the convolution of a
// tile of (m+2) x (m+2) pixels becomes (m+2)^2 products, one for each point.
//   Y  = A^T [(G g G^T) . (B^T d B)] A     for a tile d of the image and a kernel g
//   dg = G^T [(A dY A^T) . (B^T d B)] G    its gradient, summed over the tiles
// Points 0, +-1, inf for m = 2; 0, +-5/8, +-3/2, inf for m = 4, whose constants FP32 holds exactly
// or nearly so and whose error is less than half of that of the usual 0, +-1, +-2, inf.
//
// Limits   channels are a multiple of 16
// Numerics FP32
// Source   Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016; points after
//          Barabasz et al., "Error Analysis and Improving the Accuracy of Winograd Convolution",
//          2020
#include <cstdint>

namespace lab::simd {

// Channels that every transform handles at once, whatever the vector's length.
inline constexpr std::int64_t kWinogradChannels = 16;

// An image, or the gradient of one, and the place in it where a tile begins; parts of the tile may
// lie outside.
struct TilePlace {
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t y = 0, x = 0;
};

// Transformed tiles (or kernels): point p, row r, channel c lies at
//   data[p * point_stride + c / strip * strip_stride + r * strip + c % strip]
// A strip is as many channels as the matrix product wants side by side, a multiple of the vector.
struct PointArray {
  float* data = nullptr;
  std::int64_t point_stride = 0, strip_stride = 0, strip = 0;
};

struct WinogradTransforms {
  // B^T d B of (m+2) x (m+2) pixels, 0 outside of the image, to row `row`.
  void (*input)(const float* image, const TilePlace& at, const PointArray& to, std::int64_t row);
  // A dY A^T of m x m pixels, 0 outside of the image, to row `row`.
  void (*output_gradient)(const float* image, const TilePlace& at, const PointArray& to,
                          std::int64_t row);
  // A^T M A of row `row`, plus the bias unless null, to those of m x m pixels that are inside;
  // added to them when `accumulate`.
  void (*output)(const PointArray& from, std::int64_t row, const float* bias, bool accumulate,
                 const TilePlace& at, float* image);
  // G g G^T of a kernel [3, 3, tap_stride], of which `channels` are taken, to row `row`; the kernel
  // turned by 180 degrees when `turned`.
  void (*kernel)(const float* kernel, std::int64_t tap_stride, std::int64_t channels, bool turned,
                 const PointArray& to, std::int64_t row);
  // G^T dU G to a kernel's gradient [3, 3, channels]; the points are `point_stride` floats apart.
  void (*kernel_gradient)(const float* points, std::int64_t point_stride, std::int64_t channels,
                          float* d_kernel);
};

// For m = 2 or 4, on the best instruction set of this processor.
const WinogradTransforms& winograd_transforms(int outputs);

}  // namespace lab::simd
