#include "compute/kernels/convolution/transposed_product.h"

#include <algorithm>

#include "compute/kernels/convolution/packed_factor.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_kernels.h"

namespace lab {
namespace {

void multiply_f32(const TransposedProduct& x, Slice rows, std::int64_t terms, bool accumulate) {
  const GemmKernels& gemm = gemm_kernels();
  TileArgs t{.k = terms,
             .a_row_stride = 1,
             .a_k_stride = x.m,
             .b_k_stride = gemm.nr,
             .ldc = x.n,
             .accumulate = accumulate};
  for (std::int64_t j = 0; j < x.n; j += gemm.nr) {
    t.b = x.b + j / gemm.nr * x.b_strip_stride;
    t.cols = tile_part(x.n, j, gemm.nr);
    for (std::int64_t i = rows.begin; i < rows.end; i += gemm.mr) {
      t.a = x.a + i;
      t.c = x.c + i * x.n + j;
      t.rows = tile_part(rows.end, i, gemm.mr);
      gemm.tile_strided(t);
    }
  }
}

// Packs all of A's rows first, then one strip of B after the other.
void multiply_bf16(const TransposedProduct& x, Slice rows, std::int64_t terms, bool accumulate,
                   std::uint32_t* work) {
  const Bf16Kernels& gemm = bf16_kernels();
  const std::int64_t pairs = ceil_div(terms, 2);
  std::uint32_t* const b = work + ceil_div(x.m, gemm.mr) * gemm.mr * pairs;
  for (std::int64_t i = rows.begin; i < rows.end; i += gemm.mr) {
    gemm.pack_f32({.source = x.a + i,
                   .strip_stride = 1,
                   .k_stride = x.m,
                   .terms = terms,
                   .valid = tile_part(rows.end, i, gemm.mr),
                   .width = gemm.mr,
                   .out = work + (i - rows.begin) * pairs});
  }
  Bf16TileArgs t{.k_pairs = pairs,
                 .a_row_stride = 1,
                 .a_k_stride = gemm.mr,
                 .b = b,
                 .b_k_stride = gemm.nr,
                 .ldc = x.n,
                 .accumulate = accumulate};
  for (std::int64_t j = 0; j < x.n; j += gemm.nr) {
    t.cols = tile_part(x.n, j, gemm.nr);
    gemm.pack_f32({.source = x.b + j / gemm.nr * x.b_strip_stride,
                   .strip_stride = 1,
                   .k_stride = gemm.nr,
                   .terms = terms,
                   .valid = t.cols,
                   .width = gemm.nr,
                   .out = b});
    for (std::int64_t i = rows.begin; i < rows.end; i += gemm.mr) {
      t.a = work + (i - rows.begin) * pairs;
      t.c = x.c + i * x.n + j;
      t.rows = tile_part(rows.end, i, gemm.mr);
      gemm.tile(t);
    }
  }
}

}  // namespace

std::int64_t TransposedProduct::row_tiles() const {
  return ceil_div(m, tile_size(products).rows);
}

std::int64_t TransposedProduct::work_floats(std::int64_t terms) const {
  if (products != Precision::BF16) return 0;
  const TileSize size = tile_size(products);
  return (row_tiles() * size.rows + size.cols) * ceil_div(terms, 2);
}

void TransposedProduct::multiply(Slice row_tiles, std::int64_t terms, bool accumulate,
                                 float* work) const {
  const int mr = tile_size(products).rows;
  const Slice rows{row_tiles.begin * mr, std::min(row_tiles.end * mr, m)};
  if (products == Precision::BF16) {
    multiply_bf16(*this, rows, terms, accumulate, reinterpret_cast<std::uint32_t*>(work));
  } else {
    multiply_f32(*this, rows, terms, accumulate);
  }
}

}  // namespace lab
