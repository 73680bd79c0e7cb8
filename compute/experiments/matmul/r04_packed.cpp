// C = A*B, FP32: blocks of A and B are first packed in the order in which the micro-kernel reads
// them; block sizes are derived from the cache sizes.
//   A [M,K]  B [K,N]  C [M,N]   row-major; ld* in elements; C aliases neither
// Work     2*M*N*K FLOP on one thread; packs B once, and A once per block of columns of B, unless
//          packing takes longer than it saves
// Limits   any M,N,K >= 0 (strips are padded with zeros, edges of C masked)
// Numerics FP32, with fused multiply-add where available, in order of k within a block;
//          |err| <= gamma_K*(|A||B|), gamma_K = K*u/(1-K*u)
// Source   Goto and van de Geijn, TOMS 2008; Van Zee and van de Geijn, "BLIS", TOMS 2015
#include "compute/experiments/matmul/rung.h"
#include "compute/kernels/gemm/gemm_parts.h"

namespace lab {
namespace {

void packed(const GemmArgs& g, ThreadPool& /*pool*/, const std::stop_token& stop) {
  lab_gemm(g, nullptr, stop);
}

void packed_bf16(const Bf16GemmArgs& g, ThreadPool& /*pool*/, const std::stop_token& stop) {
  bf16_gemm(g, nullptr, stop);
}

}  // namespace

Rung packed_rung() {
  return {
      "packed",
      LAB_TEXT("Packed panels"),
      LAB_TEXT(
          "Blocks of A and B are copied into the order in which they are read: no cache line, TLB "
          "entry or prefetch is wasted, and the next values are always in the nearest cache."),
      false,
      &packed,
      &packed_bf16,
      LAB_TEXT(
          "Where the processor multiplies bf16 faster, neighbouring terms are packed in pairs, and "
          "one instruction multiplies and adds both. Elsewhere each is packed rounded and "
          "multiplied as f32.")};
}

}  // namespace lab
