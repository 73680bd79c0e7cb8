#pragma once
// C = A*B, FP32: the square rung with 16-byte loads; A is transposed on its way to shared memory.
//   A [M,K]  B [K,N]  C [M,N]   row-major, device; ld* in elements; C aliases neither
// Adds     width: one instruction moves 4 numbers, from global memory and, as A lies transposed,
//          from shared memory along rows of A as along columns of B. Threads take pieces of 4
//          beside their neighbours', so that the lanes of a warp never want different rows of one
//          bank.
// Work     2*M*N*K FLOP; 32 FLOP a byte of global memory; shared loads without bank conflicts
// Limits   any M,N,K >= 0 (edges masked); K == 0 writes zeros; kAligned: pointers 16-byte aligned,
//          ld* and N multiples of 4; without it global memory is read number by number
// Numerics as the naive rung
// Source   CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"
#include "compute/gpu/cuda/matmul/transposed_stage.cuh"

namespace lab::cuda_matmul {

// block [kTile.threads()], grid: tiles of C
template <Tiling kTile, bool kAligned>
LAB_DEVICE void vector_body(MatmulArgs args) {
  constexpr int kAcross = kTile.n / kTile.thread_n;
  constexpr int kDown = kTile.m / kTile.thread_m;
  const int thread = simt::thread_idx().x;
  transposed_product<kTile, kAligned>(args, {thread / kAcross * kChunk, thread % kAcross * kChunk,
                                             kDown * kChunk, kAcross * kChunk});
}

}  // namespace lab::cuda_matmul
