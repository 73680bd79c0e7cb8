// C = A*B, FP32: a register-blocked micro-kernel (8x32 with AVX-512, 6x16 with AVX2, 6x8 with
// SSE4) on unpacked matrices.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on one thread; mr + nr loads for 2*mr*nr FLOP
// Limits   any M,N,K >= 0; columns past the last whole vector are copied to a padded strip
// Numerics FP32, with fused multiply-add where available, in order of k within a block of terms;
//          |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Source   Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 2008
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

// Tiles between polls of `stop`.
constexpr std::int64_t kRowTiles = 8;
constexpr std::int64_t kColumnTiles = 64;

void simd(const GemmArgs& g, ThreadPool& /*pool*/, const std::stop_token& stop) {
  if (finish_if_empty(g)) return;
  const GemmKernels& kernels = gemm_kernels();
  const GemmOperands op(g);
  const std::int64_t rows = kRowTiles * kernels.product_mr;
  const std::int64_t cols = kColumnTiles * kernels.nr;
  for (std::int64_t i = 0; i < g.m; i += rows) {
    for (std::int64_t j = 0; j < g.n && !stop.stop_requested(); j += cols) {
      gemm_part(op, kernels, {i, std::min(i + rows, g.m)}, {j, std::min(j + cols, g.n)},
                /*packs=*/false, stop);
    }
  }
}

}  // namespace

Rung simd_rung() {
  return {
      "simd", LAB_TEXT("SIMD micro-kernel"),
      LAB_TEXT("A tile of C stays in vector registers while all its terms are added: each loaded "
               "value is used many times, and one instruction multiplies 4, 8 or 16 of them."),
      false, &simd};
}

}  // namespace lab
