#pragma once
// C = A*B, bf16 operands, FP32 accumulation: the producer rung with persistent blocks.
//   A [M,K]  B [K,N] bf16 bits  C [M,N] FP32   row-major, device; ld* in elements; C aliases
//   neither
// Adds     a persistent grid: one block per SM computes several tiles in turn. While a tile's sums
//          are written, boxes of the next are in flight; barriers and tensor maps are set up once.
//          The body is that of the producer rung, whose loop over tiles runs once per block
// Work     as the producer rung
// Limits   as the wgmma rung. Runs on a GPU only, not in the emulator, except for its
//          tile order
// Numerics as the mma.sync rung for bf16
// Source   CUTLASS, "Efficient GEMM in CUDA": persistent kernels
#include "compute/gpu/cuda/matmul/rungs/r11_producer.cuh"

namespace lab::cuda_matmul {

struct PersistentRung {
  static constexpr CudaRung kRung{
      .name = "wgmma_persistent",
      .title = LAB_TEXT("Hopper: persistent grid"),
      .sentence =
          LAB_TEXT("As many blocks as fit on the GPU stay resident and loop over tiles: the stages "
                   "of the next tile are filled while the results of this one are written."),
      .precision = Precision::BF16,
      .tiling = ProducerRung::kRung.tiling,
      .compute_major = 9,
      .exact_capability = true,
      .operands = Operands::VectorAligned,
      .persistent = true,
  };
};

}  // namespace lab::cuda_matmul

#ifdef __CUDACC__
namespace lab::cuda_matmul {

// Launch geometry as for ring_product().
template <Tiling kTile>
LAB_DEVICE void multiply(PersistentRung, const HopperMaps& maps, const Bf16MatmulArgs& args) {
  multiply<kTile>(ProducerRung{}, maps, args);
}

}  // namespace lab::cuda_matmul
#endif
