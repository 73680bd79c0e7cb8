#pragma once
// The operands of the matrix products that compute convolutions (passes.cuh). An operand has rows
// (of A, or columns of B) and terms, over which the product sums. Its type provides
//
//   kAlongTerms             whether neighbouring terms are neighbours in memory, otherwise
//                           neighbouring rows are
//   Row row(int)            what an access needs to know about a row, found once per thread
//   Term term(int, int end) the same for a term; terms from `end` on are zeros
//   float read(row, term)                 0 outside the array
//   Float4 read_four(row, term)           with three more neighbours, all inside or all outside;
//                                         16-byte aligned
//   bool reads_fours()                    optional, along terms: read_four can be used although the
//                                         product's other arrays do not allow it
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/divisor.cuh"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// A pixel or a tap as one number, y * 65536 + x, in which both are added at once. Those of pixels
// are moved by kBias, so that x stays positive.
using Place = std::uint32_t;
inline constexpr int kBias = 1 << 14;
inline constexpr int kMaxSide = int{GpuConvolution::kMaxSide};
static_assert(kMaxSide <= kBias / 4);

LAB_DEVICE Place place_of(int y, int x) {
  return static_cast<Place>(y) * 65536 + static_cast<Place>(x);
}

// An index in elements, modulo 2^32: taps outside the image may give intermediate values below 0.
using Offset = std::uint32_t;

// ---- Pixels of images around the pixels of a grid

// Grid pixel (image, y, x) and tap (ty, tx) meet at the source's pixel
//   (y * step + origin_y + ty * direction, x * step + origin_x + tx * direction).
struct Windows {
  const float* source = nullptr;  // [images, height, width, channels]
  int height = 0, width = 0;
  int grid_pixels = 0, taps = 0;  // over all images; taps * channels
  Divisor grid_size, grid_width;  // pixels per image and per row of the grid
  Divisor channels, taps_across;
  int step = 1, origin_y = 0, origin_x = 0;
  int direction = 1;
  bool fours = false;  // 4 neighbouring channels can be read at once
};

struct GridPixel {
  Place place;
  Offset offset;
};
struct Tap {
  Place place;
  Offset offset;
};

LAB_DEVICE GridPixel grid_pixel(const Windows& w, int index, int end) {
  if (index >= end) return {0, 0};  // kBias above the first row
  const auto [image, place] = divide(index, w.grid_size);
  const auto [row, column] = divide(place, w.grid_width);
  const int y = row * w.step + w.origin_y, x = column * w.step + w.origin_x;
  const Offset line =
      static_cast<Offset>(image) * static_cast<Offset>(w.height) + static_cast<Offset>(y);
  return {place_of(y + kBias, x + kBias),
          (line * static_cast<Offset>(w.width) + static_cast<Offset>(x)) * w.channels.value};
}

LAB_DEVICE Tap tap_of(const Windows& w, int index, int end) {
  if (index >= end) return {place_of(kBias + kMaxSide, 0), 0};
  const auto [tap, channel] = divide(index, w.channels);
  const auto [down, across] = divide(tap, w.taps_across);
  const int y = down * w.direction, x = across * w.direction;
  const Offset line = static_cast<Offset>(y) * static_cast<Offset>(w.width);
  return {place_of(y, x),
          (line + static_cast<Offset>(x)) * w.channels.value + static_cast<Offset>(channel)};
}

LAB_DEVICE bool is_inside(const Windows& w, const GridPixel& pixel, const Tap& tap) {
  const Place place = pixel.place + tap.place;
  return (place >> 16) - kBias < static_cast<std::uint32_t>(w.height) &&
         (place & 0xffff) - kBias < static_cast<std::uint32_t>(w.width);
}

LAB_DEVICE float read_window(const Windows& w, const GridPixel& pixel, const Tap& tap) {
  if (!is_inside(w, pixel, tap)) return 0.0F;
  return simt::load_readonly<float>(simt::global(w.source) +
                                    std::int64_t{pixel.offset + tap.offset});
}
LAB_DEVICE simt::Float4 read_window_four(const Windows& w, const GridPixel& pixel, const Tap& tap) {
  if (!is_inside(w, pixel, tap)) return {0.0F, 0.0F, 0.0F, 0.0F};
  return simt::load_readonly<simt::Float4>(simt::global(w.source) +
                                           std::int64_t{pixel.offset + tap.offset});
}

// Rows are grid pixels, terms are taps and channels.
struct PixelRows {
  static constexpr bool kAlongTerms = true;
  using Row = GridPixel;
  using Term = Tap;
  const Windows& windows;

  LAB_DEVICE bool reads_fours() const { return windows.fours; }
  LAB_DEVICE Row row(int index) const { return grid_pixel(windows, index, windows.grid_pixels); }
  LAB_DEVICE Term term(int index, int end) const { return tap_of(windows, index, end); }
  LAB_DEVICE float read(const Row& row, const Term& term) const {
    return read_window(windows, row, term);
  }
  LAB_DEVICE simt::Float4 read_four(const Row& row, const Term& term) const {
    return read_window_four(windows, row, term);
  }
};

// Rows are taps and channels, terms are grid pixels.
struct TapRows {
  static constexpr bool kAlongTerms = false;
  using Row = Tap;
  using Term = GridPixel;
  const Windows& windows;

  LAB_DEVICE Row row(int index) const { return tap_of(windows, index, windows.taps); }
  LAB_DEVICE Term term(int index, int end) const { return grid_pixel(windows, index, end); }
  LAB_DEVICE float read(const Row& row, const Term& term) const {
    return read_window(windows, term, row);
  }
  LAB_DEVICE simt::Float4 read_four(const Row& row, const Term& term) const {
    return read_window_four(windows, term, row);
  }
};

// ---- Elements of a matrix

// An element is inside if both its row and its term are.
struct MatrixPlace {
  Offset offset;
  bool inside;
};

struct MatrixOperand {
  using Row = MatrixPlace;
  using Term = MatrixPlace;
  const float* matrix;
  int rows;

  LAB_DEVICE float read(const Row& row, const Term& term) const {
    if (!row.inside || !term.inside) return 0.0F;
    return simt::load_readonly<float>(simt::global(matrix) +
                                      std::int64_t{row.offset + term.offset});
  }
  LAB_DEVICE simt::Float4 read_four(const Row& row, const Term& term) const {
    if (!row.inside || !term.inside) return {0.0F, 0.0F, 0.0F, 0.0F};
    return simt::load_readonly<simt::Float4>(simt::global(matrix) +
                                             std::int64_t{row.offset + term.offset});
  }
};

// matrix [rows, terms]
struct RowMajorOperand : MatrixOperand {
  static constexpr bool kAlongTerms = true;
  int terms;

  LAB_DEVICE Row row(int index) const {
    return {static_cast<Offset>(index) * static_cast<Offset>(terms), index < rows};
  }
  LAB_DEVICE Term term(int index, int end) const {
    return {static_cast<Offset>(index), index < end};
  }
};

// matrix [terms, rows]
struct TermMajorOperand : MatrixOperand {
  static constexpr bool kAlongTerms = false;

  LAB_DEVICE Row row(int index) const { return {static_cast<Offset>(index), index < rows}; }
  LAB_DEVICE Term term(int index, int end) const {
    return {static_cast<Offset>(index) * static_cast<Offset>(rows), index < end};
  }
};

}  // namespace lab::cuda
