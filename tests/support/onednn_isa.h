#pragma once
// Reports which instructions oneDNN uses, for tests of code paths that depend on them.
#include <oneapi/dnnl/dnnl.h>

namespace lab::test {

// Returns true if oneDNN supports bf16 matrix products, which requires AVX-512. Depends on the
// processor and ONEDNN_MAX_CPU_ISA, not on LAB_SIMD.
inline bool onednn_takes_bf16() {
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core);
  return (isa & kNeeded) == kNeeded;
}

}  // namespace lab::test
