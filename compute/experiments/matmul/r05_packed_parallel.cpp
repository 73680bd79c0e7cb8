// C = A*B, FP32: C is cut into several parts for each thread of the device; a thread that is done
// takes the next one. Each part packs its own blocks, as the packed rung does, so that no thread
// waits for another. Small products run on one thread. This is gemm().
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on all threads
// Limits   any M,N,K >= 0
// Numerics as for the packed rung; if C is small and K large, the threads split the terms
// Source   Smith et al., "Anatomy of High-Performance Many-Threaded Matrix Multiplication",
//          IPDPS 2014
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

void parallel(const GemmArgs& g, ThreadPool& pool, const std::stop_token& stop) {
  lab_gemm(g, &pool, stop);
}

void parallel_bf16(const Bf16GemmArgs& g, ThreadPool& pool, const std::stop_token& stop) {
  bf16_gemm(g, &pool, stop);
}

}  // namespace

Rung parallel_rung() {
  return {
      "parallel",
      LAB_TEXT("Packed and parallel"),
      LAB_TEXT("C is cut into more parts than there are cores, and a core that is done takes the "
               "next part. Each part packs its own blocks of A and B, so that no core waits for "
               "another."),
      false,
      &parallel,
      &parallel_bf16,
      LAB_TEXT("Each part of C packs and rounds its own blocks of A and B.")};
}

}  // namespace lab
