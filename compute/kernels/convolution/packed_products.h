#pragma once
// Matrix products shared by the convolution algorithms, built on the micro-kernels of gemm.
// Internal to the convolution module.
#include <algorithm>
#include <cstdint>

#include "compute/core/dtype.h"
#include "compute/machine/slice.h"

namespace lab {

// The tile of C that one micro-kernel call computes.
struct TileSize {
  int rows = 0;
  int cols = 0;  // width of a strip
};
TileSize tile_size(Precision products);

// Rows or columns of the tile that starts at `at`: `most`, or fewer at the end of `whole`.
inline int tile_part(std::int64_t whole, std::int64_t at, int most) {
  return static_cast<int>(std::min<std::int64_t>(most, whole - at));
}

// The right operand B [k, n] of several products, packed once, in FP32 or rounded to bf16. It is
// stored in strips of tile_size().cols columns: [strip][k][column], or for bf16 [strip][word of
// terms][column] (bf16_kernels.h).
struct PackedOperand {
  PackedOperand() = default;
  PackedOperand(Precision precision, std::int64_t terms, std::int64_t columns)
      : products(precision), k(terms), n(columns), tile(tile_size(precision)) {}

  Precision products = Precision::F32;
  std::int64_t k = 0, n = 0;
  TileSize tile;
  void* data = nullptr;

  std::int64_t strips() const;
  std::int64_t column_words() const;  // of 32 bits
  std::int64_t strip_words() const;
  std::int64_t words() const { return strips() * strip_words(); }

  // Packs terms [term, term + terms) of one strip. Element (q, j) of them is
  //   source[q * k_stride + j * column_stride]
  // where j counts from the strip's first column and one of the strides is 1. For bf16, `term` must
  // be even, and so must `terms` unless it reaches the last term.
  void pack(std::int64_t strip, std::int64_t term, std::int64_t terms, const float* source,
            std::int64_t k_stride, std::int64_t column_stride) const;

  // Floats of work memory that multiply() needs for `rows` rows of A.
  std::int64_t work_floats(std::int64_t rows) const;
  // C [rows, n] = A [rows, k] * B (+ C if accumulate), row-major, on the calling thread. FP32
  // accumulation. Fastest if the rows of A fit in L2.
  void multiply(const float* a, std::int64_t lda, float* c, std::int64_t ldc, std::int64_t rows,
                bool accumulate, float* work) const;
  // The same, where A has the words of the micro-kernel: column_words() per row, lda words apart.
  void multiply_words(const float* a, std::int64_t lda, float* c, std::int64_t ldc,
                      std::int64_t rows, bool accumulate) const;
};

// In how many parts of the batch a weight gradient is summed over n items: parts of at least
// `fewest` items, whose sums of `sum_bytes` each fit in `all_bytes`. 0 if so few would fit that all
// threads should sum in place instead.
std::int64_t weight_sum_parts(std::int64_t n, std::int64_t fewest, std::int64_t sum_bytes,
                              std::int64_t all_bytes);

// The product of a weight gradient, whose terms are pixels: C [m, n] (+)= A^T * B, with FP32
// accumulation over the rows of A [terms, m] and B [terms, n].
struct TransposedProduct {
  Precision products = Precision::F32;
  // With BF16, B has words of the micro-kernel, so that a row holds one or two terms. Whether A has
  // words too; otherwise it is rounded while packed.
  bool a_words = false;
  std::int64_t m = 0, n = 0;
  const float* a = nullptr;
  std::int64_t a_stride = 0;  // floats between rows of A
  // Strips of tile_size(products).cols columns, each row-major.
  const float* b = nullptr;
  std::int64_t b_strip_stride = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;  // floats between rows of C

  // Rows of micro-kernel tiles in C: the unit of work that threads divide.
  std::int64_t row_tiles() const;
  std::int64_t work_floats(std::int64_t terms) const;
  // Computes the given rows of tiles of C, on the calling thread.
  void multiply(Slice row_tiles, std::int64_t terms, bool accumulate, float* work) const;
};

}  // namespace lab
