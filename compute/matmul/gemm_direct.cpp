// GEMM without packed blocks: for matrices so small or narrow that packing would cost more than it
// saves.
#include "compute/matmul/gemm_parts.h"

namespace lab {
namespace {

constexpr std::int64_t kTermsAtOnce = 512;

}  // namespace

void gemm_direct(const GemmOperands& op, Range rows, Range cols, const GemmKernels& kernels) {
  const std::int64_t kc = even_piece(op.k, kTermsAtOnce, 1);
  for (std::int64_t p = 0; p < op.k; p += kc) {
    const std::int64_t terms = std::min(kc, op.k - p);
    for (std::int64_t j = cols.begin; j < cols.end; j += kernels.nr) {
      const int width = static_cast<int>(std::min<std::int64_t>(kernels.nr, cols.end - j));
      TileArgs tile{.k = terms,
                    .a_row_stride = op.a_row,
                    .a_k_stride = op.a_k,
                    .b = op.b + p * op.b_k + j * op.b_col,
                    .b_k_stride = op.b_k,
                    .ldc = op.ldc,
                    .cols = width,
                    .accumulate = op.accumulate || p > 0};
      if (op.b_col != 1 || width % kernels.lanes != 0) {
        float* strip = gemm_scratch().b.at_least(kTermsAtOnce * kernels.nr);
        kernels.pack({.source = tile.b,
                      .strip_stride = op.b_col,
                      .k_stride = op.b_k,
                      .k = terms,
                      .valid = width,
                      .width = kernels.nr,
                      .out = strip});
        tile.b = strip;
        tile.b_k_stride = kernels.nr;
      }
      for (std::int64_t i = rows.begin; i < rows.end; i += kernels.mr) {
        tile.a = op.a + i * op.a_row + p * op.a_k;
        tile.c = op.c + i * op.ldc + j;
        tile.rows = static_cast<int>(std::min<std::int64_t>(kernels.mr, rows.end - i));
        kernels.tile_strided(tile);
      }
    }
  }
}

}  // namespace lab
