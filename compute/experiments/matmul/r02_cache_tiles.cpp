// C = A*B, FP32: the loops are tiled so that a tile of B stays in the L2 cache while all rows of A
// use it.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on one thread; B is read from memory once, C once per 128 terms
// Limits   any M,N,K >= 0 (edge tiles are smaller)
// Numerics FP32 accumulation in order of k; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Source   Lam, Rothberg and Wolf, "The Cache Performance and Optimizations of Blocked Algorithms",
//          ASPLOS 1991
#include <algorithm>

#include "compute/experiments/matmul/rung.h"

namespace lab {
namespace {

constexpr std::int64_t kTerms = 128;
constexpr std::int64_t kTileColumns = 512;  // a tile of B is 256 KiB
constexpr std::int64_t kRows = 64;          // between polls of `stop`

struct Tile {
  std::int64_t row, row_end, col, col_end, term, term_end;
};

void multiply(const GemmArgs& g, const Tile& t) {
  for (std::int64_t i = t.row; i < t.row_end; ++i) {
    float* __restrict c = g.c + i * g.ldc;
    for (std::int64_t p = t.term; p < t.term_end; ++p) {
      const float a = g.a[i * g.lda + p];
      const float* __restrict b = g.b + p * g.ldb;
      for (std::int64_t j = t.col; j < t.col_end; ++j) c[j] += a * b[j];
    }
  }
}

void tiles(const GemmArgs& g, ThreadPool& /*pool*/, const std::stop_token& stop) {
  for (std::int64_t i = 0; i < g.m; ++i) std::fill_n(g.c + i * g.ldc, g.n, 0.0F);
  Tile t{};
  for (t.col = 0; t.col < g.n; t.col += kTileColumns) {
    t.col_end = std::min(t.col + kTileColumns, g.n);
    for (t.term = 0; t.term < g.k; t.term += kTerms) {
      t.term_end = std::min(t.term + kTerms, g.k);
      for (t.row = 0; t.row < g.m && !stop.stop_requested(); t.row += kRows) {
        t.row_end = std::min(t.row + kRows, g.m);
        multiply(g, t);
      }
    }
  }
}

}  // namespace

Rung tiles_rung() {
  return {"tiles", LAB_TEXT("Cache tiles"),
          LAB_TEXT("The matrices are processed in tiles that fit in L2: a tile of B is loaded from "
                   "memory once and then used by every row of A."),
          false, &tiles};
}

}  // namespace lab
