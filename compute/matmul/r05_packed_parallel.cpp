// C = A*B, FP32: the packed blocks on all threads of the device, B's block shared, C cut into a
// grid. Small products stay on one thread and unpacked. This is gemm().
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on all threads
// Limits   any M,N,K >= 0
// Numerics as the packed rung; the order of the terms does not depend on the number of threads
// Source   Smith et al., "Anatomy of High-Performance Many-Threaded Matrix Multiplication",
//          IPDPS 2014
#include "compute/matmul/gemm_parts.h"
#include "compute/matmul/rung.h"

namespace lab {
namespace {

void parallel(const GemmArgs& g, ThreadPool& pool, const std::stop_token& stop) {
  lab_gemm(g, &pool, /*always_pack=*/false, stop);
}

}  // namespace

Rung parallel_rung() {
  return {"parallel", "Packed and parallel",
          "Every core works on its own part of C; they pack B together and share it in the last "
          "cache, so that more cores do not mean more memory traffic.",
          false, &parallel};
}

}  // namespace lab
