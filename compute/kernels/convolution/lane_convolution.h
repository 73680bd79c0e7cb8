#pragma once
// A convolution on one block of images that lie side by side (compute/kernels/ops/image_lanes.h),
// on the calling thread:
//   forward          products of input vectors with weights
//   input gradient   the same with the output's gradient and the kernel turned by 180 degrees
//   weight gradient  products of input and output gradient, summed over pixels and blocks; at the
//                    end over the lanes
// Work     2 * image_lanes() * out_pixels * out_c * patch FLOP each
// Limits   any sizes >= 1; padding < kernel; input gradient: stride 1
#include <cstdint>

#include "compute/kernels/ops/conv_shape.h"
#include "compute/kernels/ops/direct_convolution.h"
#include "compute/machine/slice.h"

namespace lab {

// A block of inputs as vectors [height, padded_width, channels], with columns of zeros on both
// sides of each row.
struct LanePlane {
  std::int64_t height = 0, width = 0, channels = 0;  // of the image
  std::int64_t left = 0, padded_width = 0;           // in pixels

  std::int64_t row_stride() const { return padded_width * channels * simd::image_lanes(); }
  std::int64_t floats() const { return height * row_stride(); }
};

// What forward of `s`, or the sums of its weights' gradient, read of the input.
LanePlane plane_of(const simd::ConvShape& s);

// Writes a block of up to image_lanes() images [height, width, channels], which lie one after the
// other, or vectors [height, width, channels]. Columns of zeros are left as they are.
void fill_plane(const LanePlane& p, const float* images, std::int64_t count, float* plane);
void fill_plane(const LanePlane& p, const float* vectors, float* plane);

// The convolution of dy, with turned_weights(), that gives dx.
simd::ConvShape turned(const simd::ConvShape& s);

// Weights [out_c, kernel, kernel, in_c] of `s` for either direction, to be packed by
// pack_direct_weights() into s.weights() floats.
simd::DirectWeights forward_weights(const simd::ConvShape& s, const float* weight);
simd::DirectWeights turned_weights(const simd::ConvShape& s, const float* weight);

// Rows `rows` of the output, as vectors [rows, out_w, out_c]; `packed` and `bias` (or null) are in
// the terms of `s`.
void correlate_lanes(const simd::ConvShape& s, const float* plane, const float* packed,
                     const float* bias, Slice rows, float* out);

// sums [weights, image_lanes()] += products with `dy`: rows `rows` of the output's gradient, as
// vectors [rows, out_w, out_c].
void add_weight_gradient(const simd::ConvShape& s, const float* plane, const float* dy, Slice rows,
                         float* sums);

}  // namespace lab
