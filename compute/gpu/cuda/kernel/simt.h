#pragma once
// The vocabulary that SIMT kernels are written in. nvcc sees plain CUDA: every name below is a CUDA
// type or inlines to one instruction. The tests' host compiler sees an emulator
// (tests/support/simt) that runs the same body on the CPU and reports races, missing barriers and
// indices out of bounds. Where neither is at hand (other host code) the header defines nothing:
// argument structs and launch functions live in ordinary headers, with plain pointers.
//
// A kernel is an inline body in a .cuh, and a __global__ of two lines in a .cu:
//
//   struct TransposeArgs {                       // plain pointers: host code fills it
//     const float* in = nullptr;                 // [rows, cols]
//     float* out = nullptr;                      // [cols, rows]
//     int rows = 0, cols = 0;
//   };
//
//   template <int kTile>                         // block [kTile, kTile]
//   LAB_DEVICE void transpose_body(TransposeArgs args) {
//     LAB_SHARED(float, tile, kTile * (kTile + 1));
//     const auto in = simt::global(args.in);     // checked on the host, args.in on the device
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
//   LAB_DEVICE                   before every function of a kernel: inlined device code
//   LAB_SHARED(T, name, count)   at function scope: a static shared array, 16-byte aligned, of one
//                                dimension; `name` serves as a SharedPtr<T>
//   LAB_DYNAMIC_SHARED(T, name)  the dynamic shared memory, 128-byte aligned, as a SharedPtr<T>
//   LAB_UNROLL, LAB_UNROLL_BY(n), LAB_NO_UNROLL   before a loop
//   LAB_RESTRICT                 const simt::GlobalPtr<const float> LAB_RESTRICT a = ...
// Types
//   SharedPtr<T>, GlobalPtr<T>   T* on the device: [], +, -, +=, ++, ==; for helpers that take
//                                parts of arrays; T may be const
//   Float2, Float4, Uint2, Uint4, Int4   CUDA's float4 and so on, for load and store
//   Index3                       {int x, y, z}
// Memory
//   global(p)                    the GlobalPtr<T> of a plain pointer
//   p[i]                         one element. Name its type, `const float x = p[i]`: with auto it
//                                does not compile on the host
//   load<V>(p), store(p, v)      sizeof(V) bytes at once, aligned to them; V: Float4, Uint4, ...
//   load_readonly<V>(p)          the same of global memory that nobody writes during the launch
//   shared_cast<U>(p)            the same shared memory as elements U
//   copy_async<N>(shared, global)          cp.async of N = 4, 8 or 16 bytes, aligned to them
//   copy_async<N>(shared, global, valid)   of the first `valid` bytes, zeros after; may be 0
//   copy_commit(), copy_wait<N>()          close a group; wait until at most the N newest are
//                                under way, of this thread's own: a barrier shows them to others
//   atomic_add(p, v), atomic_max(p, v), atomic_cas(p, expected, desired)   answer the old value;
//                                on global and shared int, uint32, uint64; add on float too
// Block and warp
//   thread_idx(), block_idx(), block_dim(), grid_dim()   Index3
//   lane(), warp()               where the block has x only, or x is a multiple of 32 (then of x)
//   sync_threads(), sync_warp()
//   shuffle(v, lane), shuffle_up(v, n), shuffle_down(v, n), shuffle_xor(v, bits)   of 32-bit v
//   vote_all(p), vote_any(p), ballot(p)
//                                all of them from sync_warp on take a mask as last argument, the
//                                whole warp by default; only the sync_ ones order memory
//   warp_sum(v), warp_max(v)     over all 32 lanes, the result in every lane
// Numbers
//   fma(a, b, c)                 float, one rounding
//   to_bf16(x), from_bf16(bits)  bits of bf16 as uint16_t; to nearest, ties to even
//   pack_bf16(low, high)         two of them in a uint32_t, `low` in the low half
//   to_tf32(x)                   bits as uint32_t; to nearest, ties away from zero
// Tensor cores: by all 32 lanes; layouts in simt_common.cuh
//   ldmatrix(r, row), ldmatrix_transposed(r, row)   `r`, uint32_t[1], [2] or [4], receives as many
//                                8x8 matrices of 16-bit elements; `row`: 16 bytes, aligned
//   mma_m16n8k16_bf16(d, a, b), mma_m16n8k8_tf32(d, a, b)   float d[4] += uint32_t a[4] * b[2]
//
// Before shared memory is written again, all its readers must have passed a barrier; and after
// copy_wait comes one before another thread reads.
#if defined(__CUDACC__)
#include "compute/gpu/cuda/kernel/simt_device.cuh"
#elif __has_include(<simt/vocabulary.h>)
#include <simt/vocabulary.h>
#endif
