#pragma once
// Winograd's F(5x2, 5x5) on one block of images in lane layout, on the calling thread; the inner
// loops are in compute/kernels/ops/lane_winograd_loops.h. Pixels of tiles outside the images are
// zeros that cost no memory traffic.
// Work     54 products per tile of 5x2 outputs and pair of channels instead of 250, and transforms
// Limits   kernel 5, stride 1, padding < 5, any other sizes >= 1
#include <cstdint>

#include "compute/kernels/ops/conv_shape.h"
#include "compute/machine/scratch.h"

namespace lab {

class LaneWinograd {
 public:
  static bool supports(const simd::ConvShape& s);
  // Returns whether it is clearly faster than a convolution by definition. A matter of the shape
  // only, so that results do not depend on the processor.
  static bool pays(const simd::ConvShape& s);

  explicit LaneWinograd(const simd::ConvShape& s);

  // One thread's arrays.
  struct Forward {
    float* kernels = nullptr;  // transformed
    float* zeros = nullptr;    // a row of the input
    float* columns = nullptr;  // transformed columns of a row of tiles, [9, width, in_c] vectors
    float* points = nullptr;   // one row of its points, [3, tiles, in_c, 2] vectors
    float* outputs = nullptr;  // rows of outputs, columns not transformed: [9, 2 * tiles, out_c]
  };
  Forward take_forward(ScratchCursor& cursor) const;
  void begin(const Forward& memory, const float* weight) const;  // before the first block
  void forward(const Forward& memory, const float* x, const float* bias, float* y) const;

  // The gradients are computed together, for a band of rows of tiles at a time.
  struct Backward {
    float* kernels = nullptr;  // transformed
    float* zeros = nullptr;    // a row of the input
    float* columns = nullptr;  // of the input, then of its gradient: [band, 9, width, in_c]
    float* points = nullptr;   // one row of points of the input: [3, band * tiles, in_c, 2]
    // transformed columns of dy, lane_gradient_stride() per pixel: [9, band, 2 * tiles, out_c]
    float* gradients = nullptr;
    float* sums = nullptr;  // of the weights' points: [9, 6, out_c, in_c] floats
  };
  Backward take_backward(ScratchCursor& cursor) const;
  // Before the first block. The input's gradient needs the weights, which may be null otherwise.
  void begin(const Backward& memory, const float* weight) const;
  void clear_sums(const Backward& memory) const;
  // Adds to memory.sums unless x is null, and writes dx unless it is null.
  void backward(const Backward& memory, const float* x, const float* dy, float* dx) const;

  // Points of all pairs of channels: floats in Backward::sums.
  std::int64_t points() const;
  // Writes the weights' gradient from their points. Overwrites `sums`.
  void weight_gradient(float* sums, float* d_weight) const;

 private:
  std::int64_t rows_of_band() const;
  std::int64_t row_gradients() const;
  float* take_columns(ScratchCursor& cursor, std::int64_t rows) const;
  void transform_columns(std::int64_t tile_row, const float* x, const float* zeros,
                         float* columns) const;
  void transform_gradient(std::int64_t tile_row, const float* dy, float* to,
                          std::int64_t stride) const;
  void add_band(const Backward& memory, const float* x, const float* dy, float* dx,
                std::int64_t first, std::int64_t rows) const;

  const simd::ConvShape s_;
  const std::int64_t tile_rows_, tiles_;  // rows of tiles, and tiles per row
  const std::int64_t width_;              // pixels of a row of tiles
  const std::int64_t band_;
};

}  // namespace lab
