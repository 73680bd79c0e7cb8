#pragma once
// Inner loops of a convolution on blocks of images in lane layout (image_lanes.h). Every product is
// a vector times a weight, or times another vector, so any number of channels and any width fill
// the vector registers.
// Work     2 * image_lanes() FLOP per product; a load serves several products
// Limits   any sizes >= 1; blocks of vectors are 64-byte aligned
// Numerics FP32, summed in the order of ky, kx and channels, or of pixels; FMA if the target has it
// Threads  the calling thread
#include <cstdint>

#include "compute/kernels/ops/image_lanes.h"

namespace lab::simd {

// Rows of pixels of a block. Channel c of pixel x in row y is the vector at
//   data + y * row_stride + (x * channels + c) * image_lanes()
template <typename Float>
struct LaneRows {
  Float* data = nullptr;
  std::int64_t row_stride = 0;
};

// One row of output pixels:
//   out[q, o] = bias[o] + sum over ky, t of in.row(ky)[q * step + t] * weights[o, ky, t]
// t runs over kx and input channels together, which are contiguous. Weights are packed by
// pack_direct_weights().
struct CorrelateRow {
  LaneRows<const float> in;      // starts at the first tap of output pixel 0 in row first_ky
  std::int64_t first_ky = 0;     // first kernel row inside the image
  std::int64_t last_ky = 0;      // one past the last kernel row inside the image
  std::int64_t kernel = 1;       // width and height
  std::int64_t in_channels = 1;  // a kernel row has kernel * in_channels taps
  std::int64_t out_channels = 1;
  std::int64_t stride = 1;  // step = stride * in_channels
  std::int64_t out_width = 0;
  std::int64_t left = 0;      // columns of zeros before the image; skipped where possible
  std::int64_t in_width = 0;  // width of the image
  const float* weights = nullptr;
  const float* bias = nullptr;  // [out_channels] or null
  float* out = nullptr;         // [out_width, out_channels] vectors
};
void correlate_row(const CorrelateRow& row);

// Weights of a correlation, with t = kx * in_channels + i:
//   weight(o, ky, t) = weights[o * out_stride + (ky * kernel + kx) * tap_stride + i * in_stride]
// pack_direct_weights() stores them in the order in which correlate_row() reads them: groups of
// output channels, each [kernel, kernel * in_channels, channels of the group].
struct DirectWeights {
  const float* weights = nullptr;
  std::int64_t kernel = 1, in_channels = 1, out_channels = 1;
  std::int64_t out_stride = 0, tap_stride = 0, in_stride = 0;
  bool rotated = false;  // rotated by 180 degrees: ky and kx count from the end
};
void pack_direct_weights(const DirectWeights& from, float* to);

// Sums over rows of output pixels for every weight of one kernel row. All operands are vectors:
//   sums[o * sum_stride + t] += sum over y, q of x[y * x_row + q * step + t] * dy[y, q, o]
struct WeightSumsRows {
  const float* x = nullptr;  // starts at the first tap of output pixel 0 in the first row
  std::int64_t x_row = 0;    // vectors between the first taps of adjacent rows
  std::int64_t step = 0;     // vectors between the taps of adjacent output pixels
  std::int64_t taps = 0;
  const float* dy = nullptr;  // [rows, out_width, out_channels] vectors
  std::int64_t rows = 0, out_width = 0, out_channels = 0;
  std::int64_t first_out = 0, last_out = 0;  // range of output channels to compute
  float* sums = nullptr;                     // starts at channel first_out
  std::int64_t sum_stride = 0;               // vectors between output channels
};
void add_weight_sums(const WeightSumsRows& rows);

// sums[c, i] += sum over pixels of block[pixel, c] for image i of the block; FP32 over a few pixels
// at a time, FP64 over these partial sums.
void add_pixel_sums(const float* block, std::int64_t pixels, std::int64_t channels, double* sums);

// Output channels that should be passed to one call of add_weight_sums(): whole tiles of its sums,
// which share loads.
inline constexpr std::int64_t kWeightSumChannels = 12;

}  // namespace lab::simd
