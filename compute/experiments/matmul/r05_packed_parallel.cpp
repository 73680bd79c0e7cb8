// C = A*B, FP32: C is divided into a grid over all threads of the device. Each thread packs the
// panels of B that its own L2 cache holds and reads A unpacked; no thread waits for another. Small
// products run on one thread, and B is packed only where that pays off. This is gemm().
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
  lab_gemm(g, &pool, /*always_pack=*/false, stop);
}

void parallel_bf16(const Bf16GemmArgs& g, ThreadPool& pool, const std::stop_token& stop) {
  bf16_gemm(g, &pool, stop);
}

}  // namespace

Rung parallel_rung() {
  return {
      "parallel",
      LAB_TEXT("Packed and parallel"),
      LAB_TEXT("Every core computes its own part of C from panels of B in its own L2, so that no "
               "core waits for another; B is packed only where that pays off."),
      false,
      &parallel,
      &parallel_bf16,
      LAB_TEXT("Every core computes its own part of C; the cores pack the pairs of B together and "
               "share them in the last-level cache, which holds twice as many values as in f32.")};
}

}  // namespace lab
