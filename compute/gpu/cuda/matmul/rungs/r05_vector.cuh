#pragma once
// C = A*B, FP32: the square rung with 16-byte loads; A is transposed on its way to shared memory.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     vector accesses: one instruction moves 4 elements from global memory and, because A is
//          stored transposed, from shared memory, along rows of A and columns of B. Neighbouring
//          threads take neighbouring chunks of 4, so the lanes of a warp never access different
//          rows of one bank.
// Work     2*M*N*K FLOP; 32 FLOP per byte of global memory; shared loads without bank conflicts
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros; kAligned: pointers 16-byte aligned,
//          ld* and N multiples of 4; without it global memory is read element by element
// Numerics as the naive rung
// Source   CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"
#include "compute/gpu/cuda/matmul/rungs/cuda_rung.h"

namespace lab::cuda_matmul {

struct VectorRung {
  static constexpr CudaRung kRung{
      .name = "vector",
      .title = LAB_TEXT("Vectorised, A transposed"),
      .sentence = LAB_TEXT("Loads are 16 bytes wide, from global memory and, because A's tile is "
                           "stored transposed, from shared memory too; adjacent lanes load "
                           "adjacent vectors, so there are no bank conflicts."),
      .precision = Precision::F32,
      .tiling = {.m = 128,
                 .n = 128,
                 .k = 8,
                 .thread_m = 8,
                 .thread_n = 8,
                 .stages = 1,
                 .pad = 4,
                 .blocks_per_sm = 1},
      .small = {.m = 16, .n = 16, .k = 4, .thread_m = 4, .thread_n = 4, .stages = 1, .pad = 4},
      .compute_major = 7,
      .compute_minor = 5,
      .operands = Operands::VectorAlignedOrAny,
  };
};

}  // namespace lab::cuda_matmul

#ifdef LAB_DEVICE
#include "compute/gpu/cuda/matmul/rungs/transposed_stage.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()], grid: tiles of C
template <Tiling kTile, bool kAligned>
LAB_DEVICE void multiply(VectorRung, MatmulArgs args) {
  constexpr int kAcross = kTile.n / kTile.thread_n;
  constexpr int kDown = kTile.m / kTile.thread_m;
  const int thread = simt::thread_idx().x;
  transposed_product<kTile, kAligned>(args, {thread / kAcross * kChunk, thread % kAcross * kChunk,
                                             kDown * kChunk, kAcross * kChunk});
}

}  // namespace lab::cuda_matmul
#endif
