#pragma once
// C = A*B, bf16 factors, FP32 sums: the wgmma rung with a warpgroup that only orders copies.
//   A [M,K]  B [K,N] bits of bf16  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     producer and consumers: one warpgroup orders boxes as soon as their stage is free, two
//          multiply and never meet at a block's barrier; it gives its registers to them
// Work     2*M*N*K FLOP. A stage is 4.2 MFLOP, 1024 clocks of the tensor cores, and brings 48 KiB
//          from the second cache: 85 FLOP a byte, 48 bytes a clock and multiprocessor. That is what
//          limits it: A100's cache gives 5120 bytes a clock in all, which for 132 would be 39 each;
//          H100's is not told
// Limits   as the wgmma rung. Compiled; no GPU and no emulator has run it
// Numerics as the mma.sync rung for bf16
// Source   CUTLASS, "Efficient GEMM in CUDA": warp specialisation; PTX ISA, "setmaxnreg"; NVIDIA
//          A100 whitepaper: bytes a clock of the second cache
#include "compute/gpu/cuda/matmul/hopper_ring.cuh"

namespace lab::cuda_matmul {

// A block that shares nothing.
struct LoneBlock {
  static constexpr int kReaders = 1;
  LAB_DEVICE static int rank() { return 0; }
  LAB_DEVICE static void meet() { simt::sync_threads(); }
  template <Tiling kTile>
  LAB_DEVICE static void fill(unsigned char* stage, const CUtensorMap& a, const CUtensorMap& b,
                              const TileOrigin& tile, int term, hopper::Barrier* full) {
    hopper::fill_stage<kTile>(stage, a, b, tile, term, full);
  }
  LAB_DEVICE static void release(hopper::Barrier* empty) {
    if (simt::lane() == 0) hopper::arrive(empty);
  }
};

// As ring_product().
template <Tiling kTile>
LAB_DEVICE void producer_body(const CUtensorMap& a, const CUtensorMap& b,
                              const Bf16MatmulArgs& args) {
  ring_product<kTile, LoneBlock>(a, b, args);
}

}  // namespace lab::cuda_matmul
