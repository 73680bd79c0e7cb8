#pragma once
// Inner parts of the GEMM, compiled per SIMD instruction set and selected at run time: a
// register-blocked micro-kernel and the packing that feeds it.
#include <cstdint>

namespace lab {

// One tile: C[rows,cols] = A*B (+ C when accumulate) over `k` terms, summed in order.
//   a  element (i, p) at a[i * a_row_stride + p * a_k_stride]
//   b  element (p, j) at b[p * b_k_stride + j]; unless the kernels have loads_parts, each row must
//      be readable up to the next multiple of `lanes` past cols
//   c  element (i, j) at c[i * ldc + j]; only rows x cols are read or written
struct TileArgs {
  std::int64_t k = 0;
  const float* a = nullptr;
  std::int64_t a_row_stride = 0;
  std::int64_t a_k_stride = 0;
  const float* b = nullptr;
  std::int64_t b_k_stride = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
  int rows = 0;  // 1..mr
  int cols = 0;  // 1..nr
  // Tiles side by side, whose strips of B are `b_tile_stride` apart; those before the last one have
  // nr columns. With few terms, a call for each tile takes longer than the tile.
  std::int64_t tiles = 1;
  std::int64_t b_tile_stride = 0;
  bool accumulate = false;
  // Prefetches rows of B into L2, which pays if B is in L3 and few tiles use it, and always while B
  // is packed. Otherwise whole products rely on the hardware prefetcher, because software
  // prefetches occupy its line buffers.
  bool fetches_b = false;
  float* packed_b = nullptr;  // of tile_and_pack: k * nr floats
};

// Packing of rows of A or columns of B into the order in which the micro-kernel reads them:
// consecutive strips of `width`, the last one padded with zeros. In the first strip
//   out[p * width + i] = source[i * strip_stride + p * k_stride]
// One of the strides is 1.
struct PackArgs {
  const float* source = nullptr;
  std::int64_t strip_stride = 0;
  std::int64_t k_stride = 0;
  std::int64_t k = 0;
  int valid = 0;         // rows or columns, in one or more strips
  int width = 0;         // rows or columns per strip
  float* out = nullptr;  // ceil(valid / width) * width * k floats
};

struct GemmKernels {
  std::int64_t target;  // HWY_AVX3, HWY_AVX2, ...
  int mr;               // rows of a full tile
  int product_mr;       // the best number of rows for products of many rows
  int nr;               // columns of a full tile, a multiple of lanes
  int lanes;
  bool loads_parts;  // no element of B outside `cols` is read
  void (*tile)(const TileArgs&);
  // As tile, for mr or product_mr rows; also packs the strip of B, all vectors with a column
  // inside.
  void (*tile_and_pack)(const TileArgs&);
  void (*pack)(const PackArgs&);
};

// Returns the kernels for the best instruction set of this processor.
const GemmKernels& gemm_kernels();
// Returns those with the widest tiles, for products of many columns; the same ones unless the tiles
// of an instruction set differ.
const GemmKernels& wide_gemm_kernels();

}  // namespace lab
