#include "compute/kernels/convolution/packed_products.h"

#include <algorithm>

#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

// A, of which the tile whose first row is i begins at data[i * row_step].
template <class Word>
struct TiledRows {
  const Word* data = nullptr;
  std::int64_t row_step = 0;
};

// The tiles of C in the given rows, of any number of strips of B. `t` has the strides and the
// steps.
template <class Kernels, class Args, class Word>
void multiply_tiles(const Kernels& gemm, Args t, Slice rows, std::int64_t n, TiledRows<Word> a,
                    const Word* b, std::int64_t b_strip_stride, float* c) {
  for (std::int64_t j = 0; j < n; j += gemm.nr) {
    t.b = b + j / gemm.nr * b_strip_stride;
    t.cols = tile_part(n, j, gemm.nr);
    for (std::int64_t i = rows.begin; i < rows.end; i += gemm.mr) {
      t.a = a.data + i * a.row_step;
      t.c = c + i * t.ldc + j;
      t.rows = tile_part(rows.end, i, gemm.mr);
      gemm.tile(t);
    }
  }
}

// The same with one call per row of tiles.
void multiply_tile_rows(const Bf16Kernels& gemm, Bf16TileArgs t, Slice rows, std::int64_t n,
                        TiledRows<std::uint32_t> a, const std::uint32_t* b,
                        std::int64_t b_strip_stride, float* c) {
  t.b = b;
  t.tiles = ceil_div(n, gemm.nr);
  t.b_tile_stride = b_strip_stride;
  t.cols = static_cast<int>(n - (t.tiles - 1) * gemm.nr);
  for (std::int64_t i = rows.begin; i < rows.end; i += gemm.mr) {
    t.a = a.data + i * a.row_step;
    t.c = c + i * t.ldc;
    t.rows = tile_part(rows.end, i, gemm.mr);
    gemm.tile(t);
  }
}

void multiply_bf16_tiles(const Bf16Kernels& gemm, const Bf16TileArgs& t, Slice rows, std::int64_t n,
                         TiledRows<std::uint32_t> a, const std::uint32_t* b,
                         std::int64_t b_strip_stride, float* c) {
  if (gemm.by_rows) {
    multiply_tile_rows(gemm, t, rows, n, a, b, b_strip_stride, c);
  } else {
    multiply_tiles(gemm, t, rows, n, a, b, b_strip_stride, c);
  }
}

void multiply_f32(const PackedOperand& b, const float* a, std::int64_t lda, float* c,
                  std::int64_t ldc, std::int64_t rows, bool accumulate) {
  // Terms per pass; afterwards the next strip's block of B replaces this one in L1.
  constexpr std::int64_t kTerms = 512;
  const GemmKernels& gemm = gemm_kernels();
  TileArgs t{
      .a_row_stride = lda, .a_k_stride = 1, .b_k_stride = gemm.nr, .ldc = ldc, .fetches_b = true};
  for (std::int64_t p = 0; p < b.k; p += kTerms) {
    t.k = std::min(kTerms, b.k - p);
    t.accumulate = accumulate || p > 0;
    multiply_tiles(gemm, t, {0, rows}, b.n, TiledRows<float>{a + p, lda},
                   static_cast<const float*>(b.data) + p * gemm.nr, b.strip_words(), c);
  }
}

// `rounded` holds the rows of A, b.column_words() each, lda words apart.
void multiply_bf16(const PackedOperand& b, const std::uint32_t* rounded, std::int64_t lda, float* c,
                   std::int64_t ldc, std::int64_t rows, bool accumulate) {
  const Bf16Kernels& gemm = bf16_kernels();
  const std::int64_t words = b.column_words();
  Bf16TileArgs t{.a_row_stride = lda, .a_k_stride = 1, .b_k_stride = gemm.nr, .ldc = ldc};
  for (std::int64_t p = 0; p < words; p += gemm.block_steps) {
    t.steps = std::min(gemm.block_steps, words - p);
    t.accumulate = accumulate || p > 0;
    multiply_bf16_tiles(gemm, t, {0, rows}, b.n, {rounded + p, lda},
                        static_cast<const std::uint32_t*>(b.data) + p * gemm.nr, b.strip_words(),
                        c);
  }
}

// Rounds rows of A into contiguous rows of words.
void round_rows(const float* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::uint32_t* rounded) {
  const Bf16Kernels& gemm = bf16_kernels();
  if (lda == k && k % gemm.terms_per_word == 0) return gemm.round_row(a, rounded, rows * k);
  for (std::int64_t i = 0; i < rows; ++i) {
    gemm.round_row(a + i * lda, rounded + i * gemm.words(k), k);
  }
}

}  // namespace

TileSize tile_size(Precision products) {
  if (products == Precision::BF16) return {bf16_kernels().mr, bf16_kernels().nr};
  return {gemm_kernels().mr, gemm_kernels().nr};
}

std::int64_t PackedOperand::strips() const {
  return ceil_div(n, tile.cols);
}

std::int64_t PackedOperand::column_words() const {
  return products == Precision::BF16 ? bf16_kernels().words(k) : k;
}

std::int64_t PackedOperand::strip_words() const {
  return column_words() * tile.cols;
}

void PackedOperand::pack(std::int64_t strip, std::int64_t term, std::int64_t terms,
                         const float* source, std::int64_t k_stride,
                         std::int64_t column_stride) const {
  const int width = tile.cols;
  const int valid = tile_part(n, strip * width, width);
  if (products == Precision::BF16) {
    const Bf16Kernels& gemm = bf16_kernels();
    const std::int64_t word = term / gemm.terms_per_word;
    gemm.pack_f32(
        {.source = source,
         .strip_stride = column_stride,
         .k_stride = k_stride,
         .terms = terms,
         .valid = valid,
         .width = width,
         .out = static_cast<std::uint32_t*>(data) + strip * strip_words() + word * width});
  } else {
    gemm_kernels().pack({.source = source,
                         .strip_stride = column_stride,
                         .k_stride = k_stride,
                         .k = terms,
                         .valid = valid,
                         .width = width,
                         .out = static_cast<float*>(data) + strip * strip_words() + term * width});
  }
}

std::int64_t PackedOperand::work_floats(std::int64_t rows) const {
  return products == Precision::BF16 ? rows * column_words() : 0;
}

void PackedOperand::multiply(const float* a, std::int64_t lda, float* c, std::int64_t ldc,
                             std::int64_t rows, bool accumulate, float* work) const {
  if (products != Precision::BF16) return multiply_f32(*this, a, lda, c, ldc, rows, accumulate);
  auto* const rounded = reinterpret_cast<std::uint32_t*>(work);
  round_rows(a, lda, rows, k, rounded);
  multiply_bf16(*this, rounded, column_words(), c, ldc, rows, accumulate);
}

void PackedOperand::multiply_words(const float* a, std::int64_t lda, float* c, std::int64_t ldc,
                                   std::int64_t rows, bool accumulate) const {
  if (products == Precision::BF16) {
    multiply_bf16(*this, reinterpret_cast<const std::uint32_t*>(a), lda, c, ldc, rows, accumulate);
  } else {
    multiply_f32(*this, a, lda, c, ldc, rows, accumulate);
  }
}

namespace {

// The terms of a tile of A lie in as many lines, which may map to few sets of L1. So A is packed
// where many strips of B use it.
void multiply_f32(const TransposedProduct& x, Slice rows, std::int64_t terms, bool accumulate) {
  constexpr std::int64_t kColumnsToPack = 512;
  const GemmKernels& gemm = gemm_kernels();
  TileArgs t{.k = terms,
             .a_row_stride = 1,
             .a_k_stride = x.a_stride,
             .b_k_stride = gemm.nr,
             .ldc = x.c_stride,
             .accumulate = accumulate,
             .fetches_b = true};
  const float* const a = x.a + rows.begin;
  float* const c = x.c + rows.begin * x.c_stride;
  const std::int64_t count = rows.end - rows.begin;
  TiledRows<float> tiled{a, 1};
  if (x.n >= kColumnsToPack) {
    // A thread's next piece may have one more tile.
    const std::int64_t tiles = ceil_div(count, gemm.mr) + 1;
    float* const packed = gemm_scratch().a.at_least(tiles * gemm.mr * terms);
    gemm.pack({.source = a,
               .strip_stride = 1,
               .k_stride = x.a_stride,
               .k = terms,
               .valid = static_cast<int>(count),
               .width = gemm.mr,
               .out = packed});
    t.a_k_stride = gemm.mr;
    tiled = {packed, terms};
  }
  multiply_tiles(gemm, t, {0, count}, x.n, tiled, x.b, x.b_strip_stride, c);
}

// Without `a_words`, packs the rows of A into `work` first.
void multiply_bf16(const TransposedProduct& x, Slice rows, std::int64_t terms, bool accumulate,
                   std::uint32_t* work) {
  const Bf16Kernels& gemm = bf16_kernels();
  const std::int64_t words = gemm.words(terms);
  Bf16TileArgs t{.steps = words,
                 .a_row_stride = 1,
                 .a_k_stride = x.a_stride,
                 .b_k_stride = gemm.nr,
                 .ldc = x.c_stride,
                 .accumulate = accumulate};
  const auto* const b = reinterpret_cast<const std::uint32_t*>(x.b);
  if (x.a_words) {
    return multiply_bf16_tiles(gemm, t, rows, x.n, {reinterpret_cast<const std::uint32_t*>(x.a), 1},
                               b, x.b_strip_stride, x.c);
  }
  const std::int64_t count = rows.end - rows.begin;
  for (std::int64_t i = 0; i < count; i += gemm.mr) {
    gemm.pack_f32({.source = x.a + rows.begin + i,
                   .strip_stride = 1,
                   .k_stride = x.a_stride,
                   .terms = terms,
                   .valid = tile_part(count, i, gemm.mr),
                   .width = gemm.mr,
                   .out = work + i * words});
  }
  t.a_k_stride = gemm.mr;
  multiply_bf16_tiles(gemm, t, {0, count}, x.n, {work, words}, b, x.b_strip_stride,
                      x.c + rows.begin * x.c_stride);
}

}  // namespace

std::int64_t weight_sum_parts(std::int64_t n, std::int64_t fewest, std::int64_t sum_bytes,
                              std::int64_t all_bytes) {
  constexpr std::int64_t kFewestParts = 8, kMostParts = 32;
  const std::int64_t fit = all_bytes / sum_bytes;
  return fit < kFewestParts ? 0 : sum_parts(n, fewest, std::min(fit, kMostParts));
}

std::int64_t TransposedProduct::row_tiles() const {
  return ceil_div(m, tile_size(products).rows);
}

std::int64_t TransposedProduct::work_floats(std::int64_t terms) const {
  if (products != Precision::BF16 || a_words) return 0;
  return row_tiles() * tile_size(products).rows * bf16_kernels().words(terms);
}

void TransposedProduct::multiply(Slice row_tiles, std::int64_t terms, bool accumulate,
                                 float* work) const {
  const int mr = tile_size(products).rows;
  const Slice rows{row_tiles.begin * mr, std::min(row_tiles.end * mr, m)};
  if (products != Precision::BF16) {
    multiply_f32(*this, rows, terms, accumulate);
  } else {
    multiply_bf16(*this, rows, terms, accumulate, reinterpret_cast<std::uint32_t*>(work));
  }
}

}  // namespace lab
