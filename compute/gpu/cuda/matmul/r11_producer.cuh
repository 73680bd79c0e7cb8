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
#include "compute/gpu/cuda/matmul/cuda_rung.h"

namespace lab::cuda_matmul {

struct ProducerRung {
  static constexpr CudaRung kRung{
      .shown = {"wgmma_producer", "Hopper: producer and consumers",
                "One warpgroup only orders copies and two multiply, each waiting for no more than "
                "the stage it needs, so no barrier of the block stops them all.",
                Precision::BF16},
      .tiling = {.m = 128,
                 .n = 256,
                 .k = 64,
                 .thread_m = 8,
                 .thread_n = 16,
                 .stages = 4,
                 .element_bytes = 2,
                 .blocks_per_sm = 1,
                 .producer_threads = 128,
                 .extra_bytes = kHopperAlignment},
      .compute_major = 9,
      .no_later = true,
      .operands = Operands::WholePieces,
  };
};

}  // namespace lab::cuda_matmul

#ifdef __CUDACC__
#include "compute/gpu/cuda/matmul/hopper_stage.cuh"

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
LAB_DEVICE void multiply(ProducerRung, const CUtensorMap& a, const CUtensorMap& b,
                         const Bf16MatmulArgs& args) {
  ring_product<kTile, LoneBlock>(a, b, args);
}

}  // namespace lab::cuda_matmul
#endif
