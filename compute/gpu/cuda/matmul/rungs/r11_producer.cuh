#pragma once
// C = A*B, bf16 operands, FP32 accumulation: the wgmma rung with a warpgroup that only issues
// copies.
//   A [M,K]  B [K,N] bf16 bits  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     warp specialisation: one producer warpgroup requests boxes as soon as their stage is
//          free; two consumer warpgroups multiply without a block-wide barrier and receive most of
//          the producer's registers
// Work     2*M*N*K FLOP. A stage is 4.2 MFLOP, 1024 tensor core clocks, and reads 48 KiB from L2:
//          85 FLOP per byte, 48 bytes per clock and SM. This is the limit: A100's L2 delivers 5120
//          bytes per clock in total, which would be 39 per SM for 132 SMs; the H100's is not
//          published
// Limits   as the wgmma rung. Runs on a GPU only, not in the emulator
// Numerics as the mma.sync rung for bf16
// Source   CUTLASS, "Efficient GEMM in CUDA": warp specialisation; PTX ISA, "setmaxnreg"; NVIDIA
//          A100 whitepaper: L2 bytes per clock
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct ProducerRung {
  static constexpr CudaRung kRung{
      .name = "wgmma_producer",
      .title = LAB_TEXT("Hopper: producer and consumers"),
      .sentence = LAB_TEXT("One warpgroup only issues copies and two multiply, each waiting only "
                           "for the stage it needs, so no block-wide barrier stalls all of them."),
      .precision = Precision::BF16,
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
      .exact_capability = true,
      .operands = Operands::VectorAligned,
  };
};

}  // namespace lab::cuda_matmul

#ifdef __CUDACC__
#include "compute/gpu/cuda/matmul/rungs/hopper_stage.cuh"

namespace lab::cuda_matmul {

// The Team of a block that shares nothing with other blocks.
struct LoneBlock {
  static constexpr int kReaders = 1;
  LAB_DEVICE static int rank() { return 0; }
  LAB_DEVICE static void sync() { simt::sync_threads(); }
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

// Launch geometry as for ring_product().
template <Tiling kTile>
LAB_DEVICE void multiply(ProducerRung, const HopperMaps& maps, const Bf16MatmulArgs& args) {
  ring_product<kTile, Bf16Product<kTile>, LoneBlock>(maps, args, DirectOutput{args});
}

}  // namespace lab::cuda_matmul
#endif
