#include "compute/kernels/convolution/lane_convolution.h"

#include <algorithm>

#include "compute/kernels/gemm/cache_blocks.h"

namespace lab {

using simd::ConvShape;

std::int64_t lane_blocks(std::int64_t batch) {
  return (batch + simd::image_lanes() - 1) / simd::image_lanes();
}

std::int64_t lane_gradient_parts(std::int64_t batch) {
  return sum_parts(lane_blocks(batch), /*fewest=*/1);
}

LanePlane plane_of(const ConvShape& s) {
  const std::int64_t last_window = (s.out_w - 1) * s.stride + s.kernel;
  return {.height = s.in_h,
          .width = s.in_w,
          .channels = s.in_c,
          .left = s.padding,
          .padded_width = std::max(s.padding + s.in_w, last_window)};
}

void fill_plane(const LanePlane& p, const float* images, std::int64_t count, float* plane) {
  const std::int64_t size = p.height * p.width * p.channels;
  const std::int64_t row = p.width * p.channels;
  float* to = plane + p.left * p.channels * simd::image_lanes();
  if (p.padded_width == p.width) {
    simd::images_to_lanes({images, size, count, size}, to);
    return;
  }
  for (std::int64_t y = 0; y < p.height; ++y) {
    simd::images_to_lanes({images + y * row, size, count, row}, to + y * p.row_stride());
  }
}

void fill_plane(const LanePlane& p, const float* vectors, float* plane) {
  const std::int64_t row = p.width * p.channels * simd::image_lanes();
  float* to = plane + p.left * p.channels * simd::image_lanes();
  for (std::int64_t y = 0; y < p.height; ++y) {
    std::copy_n(vectors + y * row, row, to + y * p.row_stride());
  }
}

ConvShape rotated(const ConvShape& s) {
  return {.in_h = s.out_h,
          .in_w = s.out_w,
          .in_c = s.out_c,
          .out_h = s.in_h,
          .out_w = s.in_w,
          .out_c = s.in_c,
          .kernel = s.kernel,
          .stride = 1,
          .padding = s.kernel - 1 - s.padding};
}

simd::DirectWeights forward_weights(const ConvShape& s, const float* weight) {
  return {.weights = weight,
          .kernel = s.kernel,
          .in_channels = s.in_c,
          .out_channels = s.out_c,
          .out_stride = s.patch(),
          .tap_stride = s.in_c,
          .in_stride = 1};
}

simd::DirectWeights rotated_weights(const ConvShape& s, const float* weight) {
  return {.weights = weight,
          .kernel = s.kernel,
          .in_channels = s.out_c,
          .out_channels = s.in_c,
          .out_stride = 1,
          .tap_stride = s.in_c,
          .in_stride = s.patch(),
          .rotated = true};
}

void correlate_lanes(const ConvShape& s, const float* plane, const float* packed, const float* bias,
                     Slice rows, float* out) {
  const LanePlane p = plane_of(s);
  simd::CorrelateRow row{.in = {plane, p.row_stride()},
                         .kernel = s.kernel,
                         .in_channels = s.in_c,
                         .out_channels = s.out_c,
                         .stride = s.stride,
                         .out_width = s.out_w,
                         .left = p.left,
                         .in_width = s.in_w,
                         .weights = packed,
                         .bias = bias,
                         .out = out};
  for (std::int64_t oy = rows.begin; oy < rows.end; ++oy) {
    const std::int64_t top = oy * s.stride - s.padding;
    row.first_ky = std::max<std::int64_t>(0, -top);
    row.last_ky = std::max(row.first_ky, std::min(s.kernel, s.in_h - top));
    row.in.data = plane + (top + row.first_ky) * p.row_stride();
    simd::correlate_row(row);
    row.out += s.out_w * s.out_c * simd::image_lanes();
  }
}

namespace {

// Output rows of `rows` whose input row for `ky` is inside the image.
Slice rows_inside(const ConvShape& s, std::int64_t ky, Slice rows) {
  const std::int64_t above = std::max<std::int64_t>(0, s.padding - ky);
  const std::int64_t below = s.in_h + s.padding - ky;  // input rows within reach
  return {std::max(rows.begin, ceil_div(above, s.stride)),
          std::min(rows.end, below <= 0 ? 0 : ceil_div(below, s.stride))};
}

}  // namespace

// The gradients of some rows and channels stay in L1 while every kernel row reads them; tiles of
// the sums stay in registers over these rows.
void add_weight_gradient(const ConvShape& s, const float* plane, const float* dy, Slice rows,
                         float* sums) {
  constexpr std::int64_t kFloatsInL1 = 5 * 1024;  // of dy
  constexpr std::int64_t kMultiple = 4;           // channels; fills most tiles
  const LanePlane p = plane_of(s);
  const std::int64_t lanes = simd::image_lanes(), taps = s.kernel * s.in_c;
  const std::int64_t channels =
      std::min(s.out_c, even_piece(s.out_c, simd::kWeightSumChannels, kMultiple));
  const std::int64_t count = rows.end - rows.begin;
  const std::int64_t parts =
      std::min(count, ceil_div(count * s.out_w * channels * lanes, kFloatsInL1));
  simd::WeightSumsRows sum{.x_row = s.stride * p.padded_width * s.in_c,
                           .step = s.stride * s.in_c,
                           .taps = taps,
                           .out_width = s.out_w,
                           .out_channels = s.out_c,
                           .sum_stride = s.patch()};
  for (std::int64_t part = 0; part < parts; ++part) {
    Slice at_once = slice_of(count, parts, part);
    at_once = {at_once.begin + rows.begin, at_once.end + rows.begin};
    for (std::int64_t out = 0; out < s.out_c; out += channels) {
      sum.first_out = out;
      sum.last_out = std::min(s.out_c, out + channels);
      for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
        const Slice inside = rows_inside(s, ky, at_once);
        if (inside.empty()) continue;
        sum.x = plane + (inside.begin * s.stride - s.padding + ky) * p.row_stride();
        sum.dy = dy + (inside.begin - rows.begin) * s.out_w * s.out_c * lanes;
        sum.rows = inside.end - inside.begin;
        sum.sums = sums + (sum.first_out * s.patch() + ky * taps) * lanes;
        simd::add_weight_sums(sum);
      }
    }
  }
}

}  // namespace lab
