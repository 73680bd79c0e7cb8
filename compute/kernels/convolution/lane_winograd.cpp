#include "compute/kernels/convolution/lane_winograd.h"

#include <algorithm>
#include <array>

#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/kernels/ops/lane_winograd_loops.h"

namespace lab {
namespace {

using simd::ConvShape;
using simd::kLaneColumns;
using simd::kLaneKernel;
using simd::kLaneRows;
using simd::kLaneTileHeight;
using simd::kLaneTileWidth;

constexpr std::int64_t kTaps = kLaneKernel * kLaneKernel;

}  // namespace

bool LaneWinograd::supports(const ConvShape& s) {
  return s.kernel == kLaneKernel && s.stride == 1 && s.padding < kLaneKernel;
}

bool LaneWinograd::pays(const ConvShape& s) {
  // The transforms of a tile and channel, in the time of products.
  constexpr std::int64_t kInput = 400, kOutput = 200;
  const std::int64_t tiles = ceil_div(s.out_h, kLaneTileHeight) * ceil_div(s.out_w, kLaneTileWidth);
  const std::int64_t direct = s.out_pixels() * s.weights();
  const std::int64_t own =
      tiles * (kLaneRows * kLaneColumns * s.in_c * s.out_c + kInput * s.in_c + kOutput * s.out_c);
  return 5 * own < 4 * direct;
}

LaneWinograd::LaneWinograd(const ConvShape& s)
    : s_(s),
      tile_rows_(ceil_div(s.out_h, kLaneTileHeight)),
      tiles_(ceil_div(s.out_w, kLaneTileWidth)),
      width_(simd::lane_tiles_width(tiles_)),
      band_(rows_of_band()) {}

// The lanes of the sums are added up once per band and row of points, so a band is as large as L2
// allows.
std::int64_t LaneWinograd::rows_of_band() const {
  constexpr std::int64_t kBandBytes = 320 << 10;
  const std::int64_t row_floats =
      (kLaneRows * (width_ * s_.in_c + row_gradients()) + kLaneColumns * tiles_ * s_.in_c) *
      simd::image_lanes();
  const std::int64_t fit = std::max<std::int64_t>(kBandBytes / 4 / row_floats, 1);
  return even_piece(tile_rows_, fit, 1);
}

// Vectors of a row of tiles' output gradient.
std::int64_t LaneWinograd::row_gradients() const {
  return kLaneTileWidth * tiles_ * simd::lane_gradient_stride(s_.out_c);
}

// Holds the kernels and their points first.
float* LaneWinograd::take_columns(ScratchCursor& cursor, std::int64_t rows) const {
  const std::int64_t columns = rows * kLaneRows * width_ * s_.in_c * simd::image_lanes();
  return cursor.take<float>(std::max(columns, s_.weights() + points()));
}

LaneWinograd::Forward LaneWinograd::take_forward(ScratchCursor& cursor) const {
  const std::int64_t lanes = simd::image_lanes();
  Forward m;
  m.kernels = cursor.take<float>(points());
  m.zeros = cursor.take<float>(s_.in_w * s_.in_c * lanes);
  m.columns = take_columns(cursor, 1);
  m.points = cursor.take<float>(kLaneColumns * tiles_ * s_.in_c * lanes);
  m.outputs = cursor.take<float>(kLaneRows * kLaneTileWidth * tiles_ * s_.out_c * lanes);
  return m;
}

LaneWinograd::Backward LaneWinograd::take_backward(ScratchCursor& cursor) const {
  const std::int64_t lanes = simd::image_lanes();
  Backward m;
  m.kernels = cursor.take<float>(points());
  m.zeros = cursor.take<float>(s_.in_w * s_.in_c * lanes);
  m.columns = take_columns(cursor, band_);
  m.points = cursor.take<float>(band_ * kLaneColumns * tiles_ * s_.in_c * lanes);
  m.gradients = cursor.take<float>(band_ * kLaneRows * row_gradients() * lanes);
  m.sums = cursor.take<float>(points());
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

std::int64_t LaneWinograd::points() const {
  return kLaneRows * kLaneColumns * s_.in_c * s_.out_c;
}

void LaneWinograd::clear_sums(const Backward& m) const {
  std::fill_n(m.sums, points(), 0.0F);
}

// Writes the transformed columns of a row of tiles. Those outside the image are 0.
void LaneWinograd::transform_columns(std::int64_t tile_row, const float* x, const float* zeros,
                                     float* columns) const {
  const std::int64_t pixel = s_.in_c * simd::image_lanes();
  std::array<const float*, kLaneRows> rows{};
  for (std::int64_t i = 0; i < kLaneRows; ++i) {
    const std::int64_t y = kLaneTileHeight * tile_row - s_.padding + i;
    const bool inside = y >= 0 && y < s_.in_h;
    rows[static_cast<std::size_t>(i)] = inside ? x + y * s_.in_w * pixel : zeros;
  }
  const std::int64_t right = s_.padding + s_.in_w;
  for (std::int64_t p = 0; p < kLaneRows; ++p) {
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
  const std::int64_t outputs = kLaneTileWidth * tiles_ * s_.out_c;
  for (std::int64_t t = 0; t < tile_rows_; ++t) {
    transform_columns(t, x, m.zeros, m.columns);
    for (std::int64_t p = 0; p < kLaneRows; ++p) {
      simd::lane_input_points(m.columns + p * width_ * s_.in_c * lanes, tiles_, s_.in_c, m.points,
                              pair_stride);
      simd::lane_outputs({.input = m.points,
                          .pair_stride = pair_stride,
                          .tiles = tiles_,
                          .in_channels = s_.in_c,
                          .out_channels = s_.out_c,
                          .kernels = m.kernels + p * kLaneColumns * s_.in_c * s_.out_c,
                          .out = m.outputs + p * outputs * lanes});
    }
    const std::int64_t first = kLaneTileHeight * t;
    simd::lane_output_columns({.from = m.outputs,
                               .stride = outputs,
                               .width = s_.out_w,
                               .channels = s_.out_c,
                               .bias = bias,
                               .to = y + first * out_row * lanes,
                               .to_stride = out_row,
                               .rows = std::min(kLaneTileHeight, s_.out_h - first)});
  }
}

void LaneWinograd::backward(const Backward& m, const float* x, const float* dy, float* dx) const {
  for (std::int64_t first = 0; first < tile_rows_; first += band_) {
    add_band(m, x, dy, dx, first, std::min(band_, tile_rows_ - first));
  }
}

// Writes the transformed columns of dy in a row of tiles. Those outside the image are 0. Points are
// `stride` apart.
void LaneWinograd::transform_gradient(std::int64_t tile_row, const float* dy, float* to,
                                      std::int64_t stride) const {
  const std::int64_t lanes = simd::image_lanes();
  const std::int64_t first = kLaneTileHeight * tile_row, row = s_.out_w * s_.out_c;
  simd::lane_gradient_columns({.from = dy + first * row * lanes,
                               .stride = row,
                               .rows = std::min(kLaneTileHeight, s_.out_h - first),
                               .width = s_.out_w,
                               .channels = s_.out_c},
                              to, stride);
  const std::int64_t inside = s_.out_w * simd::lane_gradient_stride(s_.out_c);
  for (std::int64_t p = 0; p < kLaneRows; ++p) {
    std::fill_n(to + (p * stride + inside) * lanes, (row_gradients() - inside) * lanes, 0.0F);
  }
}

// Each row of points of the columns is first read and then overwritten by that of the gradient.
void LaneWinograd::add_band(const Backward& m, const float* x, const float* dy, float* dx,
                            std::int64_t first, std::int64_t rows) const {
  const std::int64_t lanes = simd::image_lanes();
  const std::int64_t point_columns = width_ * s_.in_c, columns = kLaneRows * point_columns;
  const std::int64_t row_points = tiles_ * s_.in_c * 2;
  const std::int64_t row_kernels = kLaneColumns * s_.in_c * s_.out_c;
  const std::int64_t band_gradients = rows * row_gradients();
  for (std::int64_t t = 0; t < rows; ++t) {
    transform_gradient(first + t, dy, m.gradients + t * row_gradients() * lanes, band_gradients);
    if (x != nullptr) transform_columns(first + t, x, m.zeros, m.columns + t * columns * lanes);
  }
  for (std::int64_t p = 0; p < kLaneRows; ++p) {
    const float* gradients = m.gradients + p * band_gradients * lanes;
    if (x != nullptr) {
      for (std::int64_t t = 0; t < rows; ++t) {
        simd::lane_input_points(m.columns + (t * columns + p * point_columns) * lanes, tiles_,
                                s_.in_c, m.points + t * row_points * lanes, rows * row_points);
      }
      simd::add_lane_weight_sums({.input = m.points,
                                  .pair_stride = rows * row_points,
                                  .dy = gradients,
                                  .tiles = rows * tiles_,
                                  .in_channels = s_.in_c,
                                  .out_channels = s_.out_c,
                                  .sums = m.sums + p * row_kernels});
    }
    for (std::int64_t t = 0; t < rows && dx != nullptr; ++t) {
      simd::lane_input_gradients({.dy = gradients + t * row_gradients() * lanes,
                                  .tiles = tiles_,
                                  .in_channels = s_.in_c,
                                  .out_channels = s_.out_c,
                                  .kernels = m.kernels + p * row_kernels,
                                  .to = m.columns + (t * columns + p * point_columns) * lanes});
    }
  }
  if (dx == nullptr) return;
  const std::int64_t top = kLaneTileHeight * first - s_.padding;  // row of the image
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
