#include "compute/kernels/convolution/lane_winograd.h"

#include <algorithm>
#include <array>

#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/kernels/ops/lane_winograd.h"

namespace lab {
namespace {

using simd::ConvShape;
using simd::kLaneKernel;
using simd::kLanePoints;
using simd::kLaneTileOutputs;

constexpr std::int64_t kTaps = kLaneKernel * kLaneKernel;

}  // namespace

bool LaneWinograd::supports(const ConvShape& s) {
  return s.kernel == kLaneKernel && s.stride == 1 && s.padding < kLaneKernel;
}

bool LaneWinograd::pays(const ConvShape& s) {
  // The transforms of a tile and channel, in the time of products.
  constexpr std::int64_t kInput = 150, kOutput = 60;
  const std::int64_t tiles =
      ceil_div(s.out_h, kLaneTileOutputs) * ceil_div(s.out_w, kLaneTileOutputs);
  const std::int64_t direct = s.out_pixels() * s.weights();
  const std::int64_t own =
      tiles * (kLanePoints * kLanePoints * s.in_c * s.out_c + kInput * s.in_c + kOutput * s.out_c);
  return 5 * own < 4 * direct;
}

LaneWinograd::LaneWinograd(const ConvShape& s)
    : s_(s),
      tile_rows_(ceil_div(s.out_h, kLaneTileOutputs)),
      tiles_(ceil_div(s.out_w, kLaneTileOutputs)),
      width_(simd::lane_tiles_width(tiles_)),
      band_(rows_of_band()) {}

// The sums are read and written once per band and row of points, so a band is as large as L2
// allows.
std::int64_t LaneWinograd::rows_of_band() const {
  constexpr std::int64_t kBand_bytes = 320 << 10;
  const std::int64_t row_floats =
      (kLanePoints * (width_ + tiles_) * s_.in_c + kLaneTileOutputs * tiles_ * s_.out_c) *
      simd::image_lanes();
  const std::int64_t fit = std::max<std::int64_t>(kBand_bytes / 4 / row_floats, 1);
  return even_piece(tile_rows_, fit, 1);
}

// Holds the kernels and their points first.
float* LaneWinograd::take_columns(ScratchCursor& cursor, std::int64_t rows) const {
  const std::int64_t columns = rows * kLanePoints * width_ * s_.in_c * simd::image_lanes();
  return cursor.take<float>(std::max(columns, s_.weights() + points()));
}

LaneWinograd::Forward LaneWinograd::take_forward(ScratchCursor& cursor) const {
  const std::int64_t lanes = simd::image_lanes();
  Forward m;
  m.kernels = cursor.take<float>(points());
  m.zeros = cursor.take<float>(s_.in_w * s_.in_c * lanes);
  m.columns = take_columns(cursor, 1);
  m.points = cursor.take<float>(kLanePoints * tiles_ * s_.in_c * lanes);
  m.outputs = cursor.take<float>(kLanePoints * kLaneTileOutputs * tiles_ * s_.out_c * lanes);
  return m;
}

LaneWinograd::Backward LaneWinograd::take_backward(ScratchCursor& cursor) const {
  const std::int64_t lanes = simd::image_lanes();
  Backward m;
  m.kernels = cursor.take<float>(points());
  m.zeros = cursor.take<float>(s_.in_w * s_.in_c * lanes);
  m.columns = take_columns(cursor, band_);
  m.points = cursor.take<float>(band_ * kLanePoints * tiles_ * s_.in_c * lanes);
  m.gradients = cursor.take<float>(band_ * kLaneTileOutputs * tiles_ *
                                   simd::lane_gradient_stride(s_.out_c) * lanes);
  m.sums = cursor.take<float>(points() * lanes);
  return m;
}

void LaneWinograd::begin(const Forward& m, const float* weight) const {
  std::fill_n(m.zeros, s_.in_w * s_.in_c * simd::image_lanes(), 0.0F);
  float* to = m.columns;  // [taps, in_c, out_c]
  for (std::int64_t k = 0; k < kTaps; ++k) {
    for (std::int64_t i = 0; i < s_.in_c; ++i) {
      for (std::int64_t o = 0; o < s_.out_c; ++o) *to++ = weight[(o * kTaps + k) * s_.in_c + i];
    }
  }
  simd::lane_kernel_points(m.columns, s_.in_c, s_.out_c, m.kernels);
}

void LaneWinograd::begin(const Backward& m, const float* weight) const {
  std::fill_n(m.zeros, s_.in_w * s_.in_c * simd::image_lanes(), 0.0F);
  if (weight == nullptr) return;
  float* to = m.columns;  // [taps, out_c, in_c]
  for (std::int64_t k = 0; k < kTaps; ++k) {
    for (std::int64_t o = 0; o < s_.out_c; ++o) {
      to = std::copy_n(weight + (o * kTaps + k) * s_.in_c, s_.in_c, to);
    }
  }
  simd::lane_kernel_points(m.columns, s_.out_c, s_.in_c, m.kernels);
}

void LaneWinograd::clear_sums(const Backward& m) const {
  std::fill_n(m.sums, points() * simd::image_lanes(), 0.0F);
}

// Writes the transformed columns of a row of tiles. Those outside the image are 0.
void LaneWinograd::transform_columns(std::int64_t tile_row, const float* x, const float* zeros,
                                     float* columns) const {
  const std::int64_t pixel = s_.in_c * simd::image_lanes();
  std::array<const float*, kLanePoints> rows{};
  for (std::int64_t i = 0; i < kLanePoints; ++i) {
    const std::int64_t y = kLaneTileOutputs * tile_row - s_.padding + i;
    const bool inside = y >= 0 && y < s_.in_h;
    rows[static_cast<std::size_t>(i)] = inside ? x + y * s_.in_w * pixel : zeros;
  }
  const std::int64_t right = s_.padding + s_.in_w;
  for (std::int64_t p = 0; p < kLanePoints; ++p) {
    float* row = columns + p * width_ * pixel;
    std::fill_n(row, s_.padding * pixel, 0.0F);
    std::fill_n(row + right * pixel, (width_ - right) * pixel, 0.0F);
  }
  simd::lane_input_columns(rows, s_.in_w * s_.in_c, columns + s_.padding * pixel, width_ * s_.in_c);
}

void LaneWinograd::forward(const Forward& m, const float* x, const float* bias, float* y) const {
  const std::int64_t lanes = simd::image_lanes();
  const std::int64_t pair_stride = tiles_ * s_.in_c * 2;
  const std::int64_t out_row = s_.out_w * s_.out_c;
  const std::int64_t outputs = kLaneTileOutputs * tiles_ * s_.out_c;
  for (std::int64_t t = 0; t < tile_rows_; ++t) {
    transform_columns(t, x, m.zeros, m.columns);
    for (std::int64_t p = 0; p < kLanePoints; ++p) {
      simd::lane_input_points(m.columns + p * width_ * s_.in_c * lanes, tiles_, s_.in_c, m.points,
                              pair_stride);
      simd::lane_outputs({.input = m.points,
                          .pair_stride = pair_stride,
                          .tiles = tiles_,
                          .in_channels = s_.in_c,
                          .out_channels = s_.out_c,
                          .kernels = m.kernels + p * kLanePoints * s_.in_c * s_.out_c,
                          .out = m.outputs + p * outputs * lanes});
    }
    float* first = y + kLaneTileOutputs * t * out_row * lanes;
    const bool both = kLaneTileOutputs * t + 1 < s_.out_h;
    simd::lane_output_columns({.from = m.outputs,
                               .stride = outputs,
                               .width = s_.out_w,
                               .channels = s_.out_c,
                               .bias = bias,
                               .first = first,
                               .second = both ? first + out_row * lanes : nullptr});
  }
}

void LaneWinograd::backward(const Backward& m, const float* x, const float* dy, float* dx) const {
  for (std::int64_t first = 0; first < tile_rows_; first += band_) {
    add_band(m, x, dy, dx, first, std::min(band_, tile_rows_ - first));
  }
}

// Writes one row of points of the input, unless x is null, and transformed columns of dy.
void LaneWinograd::transform_row(const Backward& m, std::int64_t point, std::int64_t first,
                                 std::int64_t rows, const float* x, const float* dy) const {
  const std::int64_t lanes = simd::image_lanes();
  const std::int64_t row_points = tiles_ * s_.in_c * 2;
  const std::int64_t out_row = s_.out_w * s_.out_c * lanes;
  const std::int64_t gradients = simd::lane_gradient_stride(s_.out_c) * lanes;  // per pixel
  for (std::int64_t t = 0; t < rows; ++t) {
    const std::int64_t y = kLaneTileOutputs * (first + t);
    const float* dy_row = dy + y * out_row;
    float* to = m.gradients + t * kLaneTileOutputs * tiles_ * gradients;
    simd::lane_gradient_columns(static_cast<int>(point),
                                {.first = dy_row,
                                 .second = y + 1 < s_.out_h ? dy_row + out_row : nullptr,
                                 .width = s_.out_w,
                                 .channels = s_.out_c},
                                to);
    const std::int64_t outside = kLaneTileOutputs * tiles_ - s_.out_w;
    std::fill_n(to + s_.out_w * gradients, outside * gradients, 0.0F);
    if (x == nullptr) continue;
    const float* columns = m.columns + (t * kLanePoints + point) * width_ * s_.in_c * lanes;
    simd::lane_input_points(columns, tiles_, s_.in_c, m.points + t * row_points * lanes,
                            rows * row_points);
  }
}

// Each row of points of the columns is first read and then overwritten by that of the gradient.
void LaneWinograd::add_band(const Backward& m, const float* x, const float* dy, float* dx,
                            std::int64_t first, std::int64_t rows) const {
  const std::int64_t lanes = simd::image_lanes();
  const std::int64_t point_columns = width_ * s_.in_c, columns = kLanePoints * point_columns;
  const std::int64_t row_kernels = kLanePoints * s_.in_c * s_.out_c;
  const std::int64_t row_gradients =
      kLaneTileOutputs * tiles_ * simd::lane_gradient_stride(s_.out_c);
  if (x != nullptr) {
    for (std::int64_t t = 0; t < rows; ++t) {
      transform_columns(first + t, x, m.zeros, m.columns + t * columns * lanes);
    }
  }
  for (std::int64_t p = 0; p < kLanePoints; ++p) {
    transform_row(m, p, first, rows, x, dy);
    if (x != nullptr) {
      simd::add_lane_weight_sums({.input = m.points,
                                  .pair_stride = rows * tiles_ * s_.in_c * 2,
                                  .dy = m.gradients,
                                  .tiles = rows * tiles_,
                                  .in_channels = s_.in_c,
                                  .out_channels = s_.out_c,
                                  .sums = m.sums + p * row_kernels * lanes});
    }
    for (std::int64_t t = 0; t < rows && dx != nullptr; ++t) {
      simd::lane_input_gradients({.dy = m.gradients + t * row_gradients * lanes,
                                  .tiles = tiles_,
                                  .in_channels = s_.in_c,
                                  .out_channels = s_.out_c,
                                  .kernels = m.kernels + p * row_kernels,
                                  .to = m.columns + (t * columns + p * point_columns) * lanes});
    }
  }
  if (dx == nullptr) return;
  const std::int64_t top = kLaneTileOutputs * first - s_.padding;  // row of the image
  simd::lane_input_gradient_columns({.from = m.columns + s_.padding * s_.in_c * lanes,
                                     .tile_stride = columns,
                                     .point_stride = point_columns,
                                     .tiles = rows,
                                     .n = s_.in_w * s_.in_c,
                                     .image = dx,
                                     .top = top,
                                     .height = s_.in_h,
                                     .add_to_first = first > 0});
}

void LaneWinograd::weight_gradient(float* sums, float* d_weight) const {
  simd::lane_kernel_gradients(sums, s_.in_c * s_.out_c);
  const float* from = sums;
  for (std::int64_t k = 0; k < kTaps; ++k) {
    for (std::int64_t o = 0; o < s_.out_c; ++o, from += s_.in_c) {
      std::copy_n(from, s_.in_c, d_weight + (o * kTaps + k) * s_.in_c);
    }
  }
}

}  // namespace lab
