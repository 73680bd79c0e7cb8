// C = A*B, FP32, by oneDNN: dnnl_sgemm, row-major, with one thread per thread of the device.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Limits   any M,N,K >= 0
// Numerics FP32; |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Errors   Unsupported with oneDNN's status
#include "compute/core/language.h"
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
Rung onednn_rung() {
  return {
      "onednn",
      "oneDNN",
      LAB_TEXT("Intel's library generates machine code for this processor at run time: a strong "
               "baseline."),
      true,
      &in_row_blocks<&onednn_gemm, GemmArgs>,
      &in_row_blocks<&onednn_bf16_gemm, Bf16GemmArgs>,
      LAB_TEXT("Intel's library generates machine code for bf16 too: its matmul with FP32 sums.")};
}

}  // namespace lab
