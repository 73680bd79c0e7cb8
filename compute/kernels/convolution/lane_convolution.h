#pragma once
// Convolution of one block of images in lane layout (compute/kernels/ops/image_lanes.h), on the
// calling thread:
//   forward          products of input vectors with weights
//   input gradient   the same on the output gradient, with the kernel rotated by 180 degrees
//   weight gradient  products of input and output gradient, summed over pixels and blocks, finally
//                    over lanes
// Work     2 * image_lanes() * out_pixels * out_c * patch FLOP each
// Limits   any sizes >= 1; padding < kernel; input gradient: stride 1
#include <cstdint>

#include "compute/kernels/ops/conv_shape.h"
#include "compute/kernels/ops/direct_convolution_loops.h"
#include "compute/machine/slice.h"

namespace lab {

// Blocks of images in a batch, and parts of the batch in which weight gradients are summed.
std::int64_t lane_blocks(std::int64_t batch);
std::int64_t lane_gradient_parts(std::int64_t batch);

// A block of inputs as vectors [height, padded_width, channels], with columns of zeros on both
// sides of each row.
struct LanePlane {
  std::int64_t height = 0, width = 0, channels = 0;  // of the image
  std::int64_t left = 0, padded_width = 0;           // in pixels

  std::int64_t row_stride() const { return padded_width * channels * simd::image_lanes(); }
  std::int64_t floats() const { return height * row_stride(); }
};

// Returns the input plane that forward and the weight gradient of `s` read.
LanePlane plane_of(const simd::ConvShape& s);

// Write a block to `plane`: up to image_lanes() consecutive images [height, width, channels], or
// vectors [height, width, channels]. The columns of zeros are not written.
void fill_plane(const LanePlane& p, const float* images, std::int64_t count, float* plane);
void fill_plane(const LanePlane& p, const float* vectors, float* plane);

// Returns the shape of the convolution that computes dx from dy with rotated_weights().
simd::ConvShape rotated(const simd::ConvShape& s);

// Return the weights [out_c, kernel, kernel, in_c] of `s` for the forward convolution and for
// rotated(s). pack_direct_weights() packs them into s.weights() floats.
simd::DirectWeights forward_weights(const simd::ConvShape& s, const float* weight);
simd::DirectWeights rotated_weights(const simd::ConvShape& s, const float* weight);

// Computes rows `rows` of the output as vectors [rows, out_w, out_c]. `packed` and `bias` (or null)
// match the shape `s`, which is rotated(...) for the input gradient.
void correlate_lanes(const simd::ConvShape& s, const float* plane, const float* packed,
                     const float* bias, Slice rows, float* out);

// sums [weights, image_lanes()] += products of `plane` with `dy`, which holds rows `rows` of the
// output gradient as vectors [rows, out_w, out_c].
void add_weight_gradient(const simd::ConvShape& s, const float* plane, const float* dy, Slice rows,
                         float* sums);

}  // namespace lab
