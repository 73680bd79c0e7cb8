#pragma once
// Matrix products of bf16 operands: stored as bf16, or FP32 and rounded while packed.
#include <cstdint>
#include <stop_token>

#include "compute/kernels/gemm/gemm.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// C = A*B (+ C when accumulate); A and B hold bf16 bits, C is FP32.
//   op(A) [M,K]  op(B) [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither.
//   A is stored [K,M] when a_transposed, B is stored [N,K] when b_transposed.
// Work     2*M*N*K FLOP; A and B take half the bytes of FP32
// Limits   any M,N,K >= 0; K == 0 writes zeros (or leaves C when accumulating); ld* >= row length
// Numerics exact products, FP32 sums; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u), u = 2^-24;
//          subnormal numbers may be treated as zero (see bf16_kernels.h)
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

// Runs on all threads of `pool`, or on the caller if null. Leaves C incomplete once `stop` is
// requested. Otherwise as gemm().
void bf16_gemm(const Bf16GemmArgs& args, ThreadPool* pool, const std::stop_token& stop = {});

// As bf16_gemm(), by oneDNN. Throws Error(Errc::Unsupported) if oneDNN has no bf16 for this
// processor.
void onednn_bf16_gemm(const Bf16GemmArgs& args, const ThreadPool* pool);

// gemm() when `args.products` is BF16: FP32 matrices that are rounded while packed, or for oneDNN
// copied to bf16 first. The arguments must have been checked.
void gemm_of_rounded(const GemmArgs& args, ThreadPool* pool, const std::stop_token& stop);
void onednn_gemm_of_rounded(const GemmArgs& args, const ThreadPool* pool);

}  // namespace lab
