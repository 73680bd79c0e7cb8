#pragma once
// The inner parts of a convolution on blocks of images side by side (image_lanes.h): every product
// is one vector with one weight, or with another vector, so that any number of channels and any
// width fill the registers.
// Work     2 * image_lanes() FLOP for each product of a weight; a few loads for many products
// Limits   any sizes >= 1; blocks of vectors start on 64 bytes
// Numerics FP32, in the order of ky, kx and channels, or of the pixels; FMA where the target has it
// Threads  the calling one
#include <cstdint>

#include "compute/kernels/ops/image_lanes.h"

namespace lab::simd {

// Rows of pixels of a block: channel c of pixel x of row y is the vector at
//   data + y * row_stride + (x * channels + c) * image_lanes()
template <typename Float>
struct LaneRows {
  Float* data = nullptr;
  std::int64_t row_stride = 0;
};

// One row of output pixels:
//   out[q, o] = bias[o] + sum over ky, t of in.row(ky)[q * step + t] * weights[o, ky, t]
// t runs over kx and input channels together: they lie side by side. Weights are as packed by
// pack_direct_weights().
struct CorrelateRow {
  LaneRows<const float> in;      // from the first tap of output pixel 0 in the first row
  std::int64_t first_ky = 0;     // rows of the kernel that are inside of the image
  std::int64_t last_ky = 0;      // behind the last
  std::int64_t kernel = 1;       // width and height
  std::int64_t in_channels = 1;  // taps of a row of the kernel: kernel * in_channels
  std::int64_t out_channels = 1;
  std::int64_t stride = 1;  // step: stride * in_channels
  std::int64_t out_width = 0;
  std::int64_t left = 0;      // columns of zeros before the image's first: not worth a product
  std::int64_t in_width = 0;  // columns of the image
  const float* weights = nullptr;
  const float* bias = nullptr;  // [out_channels] or null
  float* out = nullptr;         // [out_width, out_channels] vectors
};
void correlate_row(const CorrelateRow& row);

// Weights of a correlation in the order in which correlate_row() reads them: groups of output
// channels, in each [kernel, kernel * in_channels, channels of the group].
//   weight(o, ky, t) = weights[o * out_stride + (ky * kernel + kx) * tap_stride + i * in_stride]
struct DirectWeights {
  const float* weights = nullptr;
  std::int64_t kernel = 1, in_channels = 1, out_channels = 1;
  std::int64_t out_stride = 0, tap_stride = 0, in_stride = 0;
  bool turned = false;  // by 180 degrees: ky and kx count from the end
};
void pack_direct_weights(const DirectWeights& from, float* to);

// Sums of rows of output pixels for every weight of one row of the kernel:
//   sums[o * sum_stride + t] += sum over y, q of x[y * x_row + q * step + t] * dy[y, q, o]
// all of them vectors.
struct WeightSumsRows {
  const float* x = nullptr;  // from the first tap of output pixel 0 of the first row
  std::int64_t x_row = 0;    // vectors between the first taps of neighbouring rows
  std::int64_t step = 0;     // vectors between the taps of neighbouring output pixels
  std::int64_t taps = 0;
  const float* dy = nullptr;  // [rows, out_width, out_channels] vectors
  std::int64_t rows = 0, out_width = 0, out_channels = 0;
  std::int64_t first_out = 0, last_out = 0;  // output channels wanted
  float* sums = nullptr;                     // of first_out
  std::int64_t sum_stride = 0;               // vectors between output channels
};
void add_weight_sums(const WeightSumsRows& rows);

// sums[c, i] += sum over the pixels of block[pixel, c] for image i of the block; FP32 over a few
// pixels, FP64 over these sums.
void add_pixel_sums(const float* block, std::int64_t pixels, std::int64_t channels, double* sums);

// Output channels that one call of add_weight_sums() should be given: they share its loads.
inline constexpr std::int64_t kWeightSumChannels = 4;

}  // namespace lab::simd
