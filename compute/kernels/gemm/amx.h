#pragma once
// AMX, the matrix units of Intel's server processors since Sapphire Rapids: one instruction
// multiplies a 16x32 by a 32x16 tile of bf16 numbers and adds the product to a 16x16 tile of FP32
// sums.
// Source    Intel, "Architecture Instruction Set Extensions Programming Reference", chapter 3
#include <cstdint>
#include <string>

#include "compute/core/device.h"

namespace lab {

// Returns whether the lab may use AMX with bf16: the processor has it, LAB_SIMD allows AVX-512, and
// the kernel, asked once per process, grants the tile registers.
bool amx_bf16_available();

// Explains why the lab's bf16 kernels reach a small share of the peak; empty without AMX.
std::string amx_remark(Device device);

// Independent tile products in registers, to measure the peak; same contract as fma_loop() in
// peak.h. Requires amx_bf16_available().
double amx_bf16_loop(std::int64_t iterations, float seed, float* result);

}  // namespace lab
