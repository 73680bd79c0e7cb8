// C = A*B, FP32, by oneDNN: dnnl_sgemm, row-major, with one thread per thread of the device.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Limits   any M,N,K >= 0
// Numerics FP32; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Errors   Unsupported with oneDNN's status
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"

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
          "Intel's library generates machine code for this processor at run time: a strong "
          "baseline.",
          true,
          &onednn,
          &onednn_bf16,
          "Intel's library generates machine code for bf16 too: its matmul with FP32 sums."};
}

}  // namespace lab
