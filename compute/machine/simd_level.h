#pragma once
// Which vector instructions the lab's own kernels use: the best that this processor and this build
// have, or fewer where the environment variable LAB_SIMD caps them. Everything that asks for the
// SIMD level asks here. oneDNN and OpenBLAS choose for themselves and have caps of their own.
//
// The cap is applied to Highway's run-time dispatch before main() begins, in every program that
// links the kernels.
#include <optional>
#include <string>

namespace lab {

// The values of LAB_SIMD, each including those before it. Scalar is what runs on every x86-64
// processor: Highway's fallback without intrinsics, or SSE2 where Highway (1.1 and later) counts
// SSE2 as the baseline.
enum class SimdTier { Scalar, Sse4, Avx2, Avx512 };

// "scalar", "sse4", "avx2" or "avx512".
const char* to_string(SimdTier tier);

// The tier that `text`, a value of LAB_SIMD, names; none for null and for an empty text. Throws
// Error(Usage) naming the accepted values.
std::optional<SimdTier> parse_simd_cap(const char* text);

// LAB_SIMD of this process. Throws as parse_simd_cap().
std::optional<SimdTier> simd_cap();

struct SimdLevel {
  std::string name;    // what the kernels use: "AVX-512", "AVX2", "SSE4.2", "scalar", "NEON"
  std::string detail;  // "AVX-512 with BF16 and VNNI", and what LAB_SIMD changes
  std::string cap;     // the value of LAB_SIMD, empty where it is unset
};

// What the kernels use now. Throws as simd_cap().
SimdLevel simd_level();

// What simd_level() says where the kernels use `used` of a processor that has `best`, named
// `processor` ("AVX2", "AVX2 with FMA").
SimdLevel describe_simd(SimdTier used, SimdTier best, const SimdLevel& processor,
                        std::optional<SimdTier> cap);

// Highway's name of the best instruction set that the processor has and LAB_SIMD allows: "AVX3",
// "AVX2". It may be finer than what the kernels are compiled for. For keys of what is remembered.
const char* simd_target();

// Why the kernels use no AVX512-BF16 instructions; empty where they use them.
std::string why_no_avx512_bf16();

}  // namespace lab
