#pragma once
// C = A^T * B where A lies row by row and B in strips: the sums over pixels of a weight gradient.
#include <cstdint>

#include "compute/core/precision.h"
#include "compute/machine/slice.h"

namespace lab {

// C [m, n] (+)= A^T * B, FP32 sums over the rows of A [terms, m] and B [terms, n].
struct TransposedProduct {
  Precision products = Precision::F32;  // BF16: A and B are rounded on the way
  std::int64_t m = 0, n = 0;
  const float* a = nullptr;  // row-major, m floats a row
  // Strips of tile_size(products).cols columns, each row by row.
  const float* b = nullptr;
  std::int64_t b_strip_stride = 0;
  float* c = nullptr;  // row-major, n floats a row

  // Rows of the micro-kernels' tiles of C: what threads can share out.
  std::int64_t row_tiles() const;
  std::int64_t work_floats(std::int64_t terms) const;
  // Those rows of C, on the calling thread.
  void multiply(Slice row_tiles, std::int64_t terms, bool accumulate, float* work) const;
};

}  // namespace lab
