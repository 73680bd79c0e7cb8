// C = A*B, FP32, by the definition: one dot product of a row of A and a column of B per element.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on one thread, scalar; one cache line of B is loaded per multiplication
// Limits   any M,N,K >= 0
// Numerics FP32 accumulation in order of k; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Source   the definition; bound: Higham 2002, ch. 3
#include "compute/core/events/event.h"
#include "compute/experiments/matmul/rung.h"

namespace lab {
namespace {

constexpr std::int64_t kColumns = 256;  // between polls of `stop`

void naive(const GemmArgs& g, ThreadPool& /*pool*/, const std::stop_token& stop) {
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      if (j % kColumns == 0 && stop.stop_requested()) return;
      float sum = 0;
      for (std::int64_t p = 0; p < g.k; ++p) sum += g.a[i * g.lda + p] * g.b[p * g.ldb + j];
      g.c[i * g.ldc + j] = sum;
    }
  }
}

}  // namespace

Rung naive_rung() {
  return {kPlainRung, LAB_TEXT("Three loops"),
          LAB_TEXT("The definition, one dot product per element of C: it walks down a column of B, "
                   "so nearly every multiply waits for another cache line."),
          false, &naive};
}

}  // namespace lab
