// C = A*B, FP32, by oneDNN: dnnl_sgemm, row-major, on as many threads as the device has.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Limits   any M,N,K >= 0
// Numerics FP32; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Errors   Unsupported with oneDNN's status
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include "compute/core/error.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/kernels/gemm/onednn_threads.h"

namespace lab {
namespace {

void onednn(const GemmArgs& args, ThreadPool& pool, const std::stop_token& stop) {
  for_row_blocks(args, stop, [&](const GemmArgs& block) { onednn_gemm(block, &pool); });
}

void onednn_bf16(const Bf16GemmArgs& args, ThreadPool& pool, const std::stop_token& stop) {
  for_row_blocks(args, stop, [&](const Bf16GemmArgs& block) { onednn_bf16_gemm(block, &pool); });
}

}  // namespace

Rung onednn_rung() {
  return {"onednn",
          "oneDNN",
          "Intel's library writes machine code for this processor at run time: the ceiling that "
          "good engineering reaches here.",
          true,
          &onednn,
          &onednn_bf16,
          "Intel's library writes machine code for bf16 too: its matmul with sums in FP32."};
}

void onednn_gemm(const GemmArgs& args, const ThreadPool* pool) {
  if (args.products == Precision::BF16) return onednn_gemm_of_rounded(args, pool);
  if (finish_if_empty(args)) return;
  use_onednn_threads(pool);
  const dnnl_status_t status = dnnl_sgemm(
      args.a_transposed ? 'T' : 'N', args.b_transposed ? 'T' : 'N', args.m, args.n, args.k, 1.0F,
      args.a, args.lda, args.b, args.ldb, args.accumulate ? 1.0F : 0.0F, args.c, args.ldc);
  if (status != dnnl_success) {
    throw Error(Errc::Unsupported,
                fmt::format("oneDNN: sgemm of [{},{}] by [{},{}] failed with status {}", args.m,
                            args.k, args.k, args.n, int{status}));
  }
}

}  // namespace lab
