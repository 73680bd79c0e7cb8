#pragma once
// wgmma in the vocabulary of simt.h, for operands of 16 bits per element in shared memory: a
// warpgroup, 128 threads with neighbouring warps from a multiple of 4 on, multiplies [64, 16] by
// [16, N], N = 64, 128 or 192.
//
// An operand is in boxes of 128-byte rows. A row holds 64 slots (terms of the product) of a row of
// A or of a column of B; or a slot of 64 rows or columns, with 64 slots per box and the box of the
// next 64 columns directly after it, or, of 64 rows or columns in all, more slots. The piece p of
// 16 bytes of the row at byte 128r of shared memory is stored at p ^ r % 8. A box may begin at any
// row.
//
//   Box                       the address of a box: a number on the device; box + bytes moves it
//   first_box(shared)         the first element of dynamic shared memory at a multiple of 1024
//                             bytes; the memory needs kBoxAlignment bytes more than the boxes
//   box_at(p)                 the Box at the element p
//   wgmma_begin()             before the first wgmma of a group
//   wgmma<kElement, kASlots, kBSlots>(sums, a, b, step)
//                             sums += A * B, asynchronous, of elements of type kElement, an
//                             Element16; slots 16 * step .. 16 * step + 15 of both operands, whose
//                             rows hold slots or not. sums [N / 8][4] of a thread: with
//                             w = warp() % 4, g = lane() / 4, q = lane() % 4, sums[j][i] is row
//                             16w + g (+8: i >= 2), column 8j + 2q + i % 2
//   wgmma_commit()            after the last wgmma of a group
//   wgmma_wait<N>()           waits until at most the N > 0 newest groups are pending; the boxes of
//                             the others have been read
//   wgmma_finish(sums)        waits for all groups; before, neither sums nor boxes may be touched
//
// copy_engine.h has the copies into boxes.
//
// The emulator multiplies at once, so it does not detect boxes that are overwritten too early, but
// races, pending copies and bounds. Device: sm_90a only.
// Source  PTX ISA, "wgmma.mma_async", "Matrix Descriptor Format", "Strides"
#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::simt {
inline constexpr int kBoxRowBytes = 128;
inline constexpr int kBoxAlignment = 1024;
inline constexpr int kBoxRows = 64;  // of a box whose rows are slots, and slots of a row
inline constexpr int kBoxBytes = kBoxRows * kBoxRowBytes;
inline constexpr int kWgmmaRows = 64;
inline constexpr int kWgmmaSlots = 16;
inline constexpr int kWarpgroupThreads = 128;
}  // namespace lab::simt

#if defined(__CUDACC__)
#include "compute/gpu/cuda/kernel/wgmma_device.cuh"
#elif defined(LAB_SIMT_EMULATOR)
#include "compute/gpu/emulator/wgmma.h"
#endif
