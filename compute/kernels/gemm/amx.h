#pragma once
// AMX, the matrix units of Intel's server processors since Sapphire Rapids: one instruction
// multiplies a 16x32 by a 32x16 tile of bf16 numbers and adds to 16x16 sums in FP32.
// Source    Intel, "Architecture Instruction Set Extensions Programming Reference", chapter 3
#include <cstdint>

namespace lab {

// Returns whether the lab may use AMX with bf16: the processor has it, LAB_SIMD allows AVX-512, and
// the kernel grants the tile registers, which it is asked for once per process.
bool amx_bf16_available();

// Independent tile products in registers, to measure the peak; same contract as fma_loop() in
// peak.h. Requires amx_bf16_available().
double amx_bf16_loop(std::int64_t iterations, float seed, float* result);

}  // namespace lab
