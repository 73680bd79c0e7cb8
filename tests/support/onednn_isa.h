#pragma once
// What oneDNN computes with here, for tests of what only some of its code paths can do.
#include <oneapi/dnnl/dnnl.h>

namespace lab::test {

// Whether oneDNN multiplies bf16: with AVX-512 only. It follows the processor and
// ONEDNN_MAX_CPU_ISA, not LAB_SIMD.
inline bool onednn_takes_bf16() {
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core);
  return (isa & kNeeded) == kNeeded;
}

}  // namespace lab::test
