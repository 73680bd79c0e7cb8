#pragma once
// AMX, the matrix units of Intel's server processors since Sapphire Rapids: one instruction
// multiplies a 16x32 by a 32x16 tile of bf16 numbers and adds the product to a 16x16 tile of FP32
// sums. Their kernels are amx_kernels() (bf16_kernels.h).
// Source    Intel, "Architecture Instruction Set Extensions Programming Reference", chapter 3

namespace lab {

// Returns whether the lab multiplies bf16 with AMX: the processor has it, LAB_SIMD allows AVX-512,
// and the operating system, asked once per process, grants the tile registers.
bool uses_amx();

}  // namespace lab
