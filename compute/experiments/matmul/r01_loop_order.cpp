// C = A*B, FP32: each row of C is accumulated from whole rows of B, so that memory is read in
// order.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on one thread; B is read once per row of A
// Limits   any M,N,K >= 0
// Numerics FP32 accumulation in order of k; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Source   Golub and Van Loan, Matrix Computations, 4th ed., section 1.1 (the "gaxpy" by rows)
#include <algorithm>

#include "compute/experiments/matmul/rung.h"

namespace lab {
namespace {

void loop_order(const GemmArgs& g, ThreadPool& /*pool*/, const std::stop_token& stop) {
  for (std::int64_t i = 0; i < g.m && !stop.stop_requested(); ++i) {
    float* __restrict c = g.c + i * g.ldc;
    std::fill_n(c, g.n, 0.0F);
    for (std::int64_t p = 0; p < g.k; ++p) {
      const float a = g.a[i * g.lda + p];
      const float* __restrict b = g.b + p * g.ldb;
      for (std::int64_t j = 0; j < g.n; ++j) c[j] += a * b[j];
    }
  }
}

}  // namespace

Rung loop_order_rung() {
  return {"loop_order", LAB_TEXT("Loop order"),
          LAB_TEXT("The two inner loops are swapped: B and C are now read along their rows, so "
                   "that every byte of a cache line is used and the compiler can vectorise."),
          false, &loop_order};
}

}  // namespace lab
