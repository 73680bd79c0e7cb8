#pragma once
// Matrix products that the convolution algorithms share, on the micro-kernels of gemm. Internal to
// convolution.
#include <algorithm>
#include <cstdint>

#include "compute/core/dtype.h"
#include "compute/machine/slice.h"

namespace lab {

// The micro-kernels' tile of C.
struct TileSize {
  int rows = 0;
  int cols = 0;  // the width of a strip
};
TileSize tile_size(Precision products);

// Rows or columns of the tile at `at`: `most`, less at the end of the `whole`.
inline int tile_part(std::int64_t whole, std::int64_t at, int most) {
  return static_cast<int>(std::min<std::int64_t>(most, whole - at));
}

// The right factor of products that share it, packed once, FP32 or rounded to bf16. B [k, n] in
// strips of tile_size().cols columns: [strip][k][column], with bf16 [strip][pairs of
// terms][column], the last pair filled up with zeros.
struct PackedFactor {
  Precision products = Precision::F32;
  std::int64_t k = 0, n = 0;
  void* data = nullptr;

  std::int64_t strips() const;
  std::int64_t strip_words() const;  // of 4 bytes
  std::int64_t words() const { return strips() * strip_words(); }

  // Packs terms [term, term + terms) of one strip; element (q, j) of them is
  // source[q * k_stride + j * column_stride], one of the strides 1, j from the strip's first
  // column. With bf16, `term` is even, and so is `terms` unless they are the last.
  void pack(std::int64_t strip, std::int64_t term, std::int64_t terms, const float* source,
            std::int64_t k_stride, std::int64_t column_stride) const;

  // Floats of work memory for `rows` rows of A.
  std::int64_t work_floats(std::int64_t rows) const;
  // C [rows, n] = A [rows, k] * B (+ C when accumulate), row-major, on the calling thread. FP32
  // sums; A's rows should stay in the second cache.
  void multiply(const float* a, std::int64_t lda, float* c, std::int64_t ldc, std::int64_t rows,
                bool accumulate, float* work) const;
};

// The sums over pixels of a weight gradient, where A lies row by row and B in strips:
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
