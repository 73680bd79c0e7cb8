#pragma once
// Selects the vector instructions of the lab's own kernels: the best supported by the CPU and this
// build, or fewer if the environment variable LAB_SIMD caps them. All queries of the SIMD level go
// through this file. oneDNN and OpenBLAS select their own and have their own caps.
//
// The cap is applied to Highway's run-time dispatch before main() begins, in every program that
// links the kernels.
#include <optional>
#include <string>

namespace lab {

// Values of LAB_SIMD: the levels of x86-64, each including those before it, and AArch64's only one.
// Scalar runs on every x86-64 CPU: Highway's fallback without intrinsics, or SSE2 where Highway
// (1.1 and later) treats SSE2 as the baseline.
enum class SimdTier { Scalar, Sse4, Avx2, Avx512, Neon };

// Returns "scalar", "sse4", "avx2", "avx512" or "neon".
const char* to_string(SimdTier tier);

// Parses a value of LAB_SIMD; empty for null and for empty text. Throws Error(Usage) naming the
// accepted values.
std::optional<SimdTier> parse_simd_cap(const char* text);

// Returns the cap set by LAB_SIMD. Throws as parse_simd_cap().
std::optional<SimdTier> simd_cap();

struct SimdLevel {
  std::string name;    // used by the kernels: "AVX-512", "AVX2", "SSE4.2", "scalar", "NEON"
  std::string detail;  // "AVX-512 with BF16 and VNNI", "NEON with SVE2", and the effect of LAB_SIMD
  std::string cap;     // value of LAB_SIMD; empty if unset
  bool capped = false;  // the processor supports more than LAB_SIMD allows
};

// Returns the level that the kernels use. Throws as simd_cap().
SimdLevel simd_level();

// Returns the result of simd_level() for kernels that use `used` on a CPU that supports `best` and
// is described by `processor` ("AVX2", "AVX2 with FMA").
SimdLevel describe_simd(SimdTier used, SimdTier best, const SimdLevel& processor,
                        std::optional<SimdTier> cap);

// Returns Highway's name of the best instruction set that the CPU supports and LAB_SIMD allows:
// "AVX3", "AVX2", "NEON". It may be finer than what the kernels are compiled for. For keys of
// cached results.
const char* simd_target();

// Returns what distinguishes x86-64 processors whose name a virtual machine hides: "family 25,
// model 1"; empty on other processors. For keys of cached results.
std::string processor_numbers();

// To be called before kernels run. On a processor with AVX, instructions of the SSE levels merge
// with the upper halves of registers, which a context switch may mark as used: the kernels then
// have 0.73 of their speed on Zen 5. Clears them if kernels are limited to those levels; otherwise
// does nothing. Takes a few cycles.
void clear_upper_halves();

// Returns whether processor and operating system have AMX with bf16, which LAB_SIMD may exclude.
bool has_amx_bf16();

// Returns why AVX512-BF16 instructions cannot be used; empty if they can.
std::string why_no_avx512_bf16();

// Returns why kernels without AMX multiply bf16 numbers as FP32; empty if they use AVX512-BF16.
// Intel's processors that have it multiply at half the rate of FP32 (87 of 175 GFLOP/s per core,
// measured on a Xeon of the fifth generation); AMD's at twice the rate of FP32.
std::string why_bf16_products_are_f32();

}  // namespace lab
