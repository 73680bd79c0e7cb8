#pragma once
// The GEMM that all other code calls: the best rung of the ladder, or the library's.
#include <cstdint>

#include "compute/core/dtype.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// C = A*B (+ C when accumulate), FP32.
//   op(A) [M,K]  op(B) [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither.
//   A is stored [K,M] when a_transposed, B is stored [N,K] when b_transposed.
// Work     2*M*N*K FLOP
// Limits   any M,N,K >= 0; K == 0 writes zeros (or leaves C when accumulating); ld* >= row length
// Numerics FP32 accumulation; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u), u = 2^-24
struct GemmArgs {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
  bool a_transposed = false;
  bool b_transposed = false;
  bool accumulate = false;
  // BF16: operands are rounded to bf16; products and sums stay FP32.
  Precision products = Precision::F32;
};

// Runs on all threads of `pool`. No heap allocation after the first call of a size class. The
// lab's result depends only on the shapes, on which operands are stored transposed and on the SIMD
// level: it has the same bits on any number of threads.
// Throws Error(Errc::InvalidArgument) naming the operation and the shapes.
void gemm(const GemmArgs& args, ThreadPool& pool, Kernels kernels = Kernels::Lab);

}  // namespace lab
