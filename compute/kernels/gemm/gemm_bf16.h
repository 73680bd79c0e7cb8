#pragma once
// Matrix products of bf16 factors: of matrices that are bf16 in memory, or rounded on packing.
#include <cstdint>
#include <stop_token>

#include "compute/kernels/gemm/gemm.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// C = A*B (+ C when accumulate); A and B are bits of bf16, C is FP32.
//   op(A) [M,K]  op(B) [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither.
//   A is stored [K,M] when a_transposed, B is stored [N,K] when b_transposed.
// Work     2*M*N*K FLOP; A and B are half as many bytes as in FP32
// Limits   any M,N,K >= 0; K == 0 writes zeros (or leaves C when accumulating); ld* >= row length
// Numerics exact products, FP32 sums; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u), u = 2^-24;
//          subnormal numbers may count as zero (see bf16_kernels.h)
struct Bf16GemmArgs {
  std::int64_t m = 0, n = 0, k = 0;
  const std::uint16_t* a = nullptr;
  std::int64_t lda = 0;
  const std::uint16_t* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
  bool a_transposed = false;
  bool b_transposed = false;
  bool accumulate = false;
};

// On all of `pool`'s threads, or on the caller for nullptr; leaves C half done once `stop` is
// requested. Otherwise as gemm().
void bf16_gemm(const Bf16GemmArgs& args, ThreadPool* pool, const std::stop_token& stop = {});

// The same by oneDNN. Throws Error(Unsupported) where oneDNN has no bf16 for this processor.
void onednn_bf16_gemm(const Bf16GemmArgs& args, const ThreadPool* pool);

// gemm() when `args.products` is BF16: FP32 matrices whose numbers are
// rounded on packing, or for oneDNN copied first. The arguments have been checked.
void gemm_of_rounded(const GemmArgs& args, ThreadPool* pool, const std::stop_token& stop);
void onednn_gemm_of_rounded(const GemmArgs& args, const ThreadPool* pool);

}  // namespace lab
