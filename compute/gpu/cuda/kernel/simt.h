#pragma once
// The vocabulary of SIMT kernels. Under nvcc it is plain CUDA: every name below is a CUDA type or
// inlines to one instruction. Under the tests' host compiler it is an emulator
// (compute/gpu/emulator) that runs the same kernel body on the CPU and reports races, missing
// barriers and out-of-bounds indices. In other host code this header defines nothing: argument
// structs and launch functions are declared in ordinary headers, with plain pointers.
//
// A kernel is an inline body in a .cuh file and a two-line __global__ function in a .cu file:
//
//   struct TransposeArgs {                       // plain pointers, filled by host code
//     const float* in = nullptr;                 // [rows, cols]
//     float* out = nullptr;                      // [cols, rows]
//     int rows = 0, cols = 0;
//   };
//
//   template <int kTile>                         // block [kTile, kTile]
//   LAB_DEVICE void transpose_body(TransposeArgs args) {
//     LAB_SHARED(float, tile, kTile * (kTile + 1));
//     const auto in = simt::global(args.in);     // bounds-checked on the host
//     const auto out = simt::global(args.out);
//     const auto [tx, ty, tz] = simt::thread_idx();
//     const int x = simt::block_idx().x * kTile, y = simt::block_idx().y * kTile;
//     if (y + ty < args.rows && x + tx < args.cols)
//       tile[ty * (kTile + 1) + tx] = in[(y + ty) * args.cols + x + tx];
//     simt::sync_threads();
//     if (x + ty < args.cols && y + tx < args.rows)
//       out[(x + ty) * args.rows + y + tx] = tile[tx * (kTile + 1) + ty];
//   }
//
//   __global__ void __launch_bounds__(1024) transpose_kernel(TransposeArgs args) {   // .cu
//     transpose_body<32>(args);
//   }
//
//   simt::launch({.grid = {2, 3}, .block = {32, 32}, .arrays = {in, out}},           // test
//                [&] { transpose_body<32>(args); });
//
// Declarations
//   LAB_DEVICE                   marks every function of a kernel: inlined device code
//   LAB_SHARED(T, name, count)   at function scope: a static one-dimensional shared array, 16-byte
//                                aligned; `name` converts to SharedPtr<T>
//   LAB_DYNAMIC_SHARED(T, name)  the dynamic shared memory, 128-byte aligned, as a SharedPtr<T>
//   LAB_UNROLL, LAB_UNROLL_BY(n), LAB_NO_UNROLL   before a loop
//   LAB_RESTRICT                 const simt::GlobalPtr<const float> LAB_RESTRICT a = ...
// Types
//   SharedPtr<T>, GlobalPtr<T>   T* on the device: [], +, -, +=, ++, ==; for helpers that take
//                                parts of arrays. T may be const
//   Float2, Float4, Uint2, Uint4, Int4   CUDA's vector types, for load and store
//   Index3                       {int x, y, z}
// Memory
//   global(p)                    the GlobalPtr<T> of a plain pointer
//   p[i]                         one element. Name its type, as in `const float x = p[i]`: auto
//                                does not compile on the host
//   load<V>(p), store(p, v)      sizeof(V) bytes at once, aligned to sizeof(V); V: Float4, ...
//   load_readonly<V>(p)          load from global memory that is not written during the launch
//   shared_cast<U>(p)            the same shared memory as elements of type U
//   copy_async<N>(shared, global)          cp.async of N = 4, 8 or 16 bytes, aligned to N
//   copy_async<N>(shared, global, valid)   copies the first `valid` bytes (may be 0), then zeros
//   copy_commit(), copy_wait<N>()          close a group of copies; wait until at most the N newest
//                                groups of this thread are pending. Other threads see the data
//                                after a barrier
//   atomic_add(p, v), atomic_max(p, v), atomic_cas(p, expected, desired)   return the old value;
//                                on global and shared int, uint32 and uint64; add also on float
// Block and warp
//   thread_idx(), block_idx(), block_dim(), grid_dim()   Index3
//   lane(), warp()               indices within x; require a block with x only, or an x extent
//                                that is a multiple of 32
//   uniform_warp()               warp(), called by all lanes, which tells the compiler that what is
//                                computed from it is the same in all of them
//   sync_threads(), sync_warp()
//   shuffle(v, lane), shuffle_up(v, n), shuffle_down(v, n), shuffle_xor(v, bits)   32-bit v
//   vote_all(p), vote_any(p), ballot(p)
//                                sync_warp, the shuffles and the votes take a mask as last
//                                argument, by default the whole warp; only sync_* order memory
//   warp_sum(v), warp_max(v)     over all 32 lanes; every lane receives the result
// Numbers
//   fma(a, b, c)                 float, one rounding
//   float_of(bits), bits_of(x)   the float with these bits, a uint32_t, and the reverse
//   own_register(x)              x in a register that the compiler chooses apart from x's. A vector
//                                store wants its values in neighbouring registers; sums that are
//                                kept there meet the other operands of a multiply in the same bank
//                                of the register file, which reads one register per clock and bank
//   own_registers(values)        the Float4 of four values, each in its own register
//   to_bf16(x), from_bf16(bits)  bf16 bits in a uint16_t; round to nearest, ties to even
//   pack_bf16(low, high)         two bf16 values in a uint32_t, `low` in the low half
//   pack_fp16(low, high)         likewise of FP16; 65520 and more become infinite
//   to_tf32(x)                   tf32 bits in a uint32_t; round to nearest, ties to even. Before
//                                compute capability 9.0 ties round away from zero
// Tensor cores: executed by all 32 lanes; layouts in simt_common.cuh; wgmma.h has those of sm_90a
//   ldmatrix(r, row), ldmatrix_transposed(r, row)   `r` is uint32_t[1], [2] or [4] and receives
//                                that number of 8x8 matrices of 16-bit elements; `row`: 16 bytes,
//                                16-byte aligned
//   mma_m16n8k16_bf16(d, a, b), mma_m16n8k8_tf32(d, a, b)   float d[4] += uint32_t a[4] * b[2]
//
// Shared memory may be overwritten only after all its readers have passed a barrier. After
// copy_wait, a barrier is required before another thread reads the data.
#if defined(__CUDACC__)
#include "compute/gpu/cuda/kernel/simt_device.cuh"
#elif defined(LAB_SIMT_EMULATOR)
#include "compute/gpu/emulator/vocabulary.h"
#endif
