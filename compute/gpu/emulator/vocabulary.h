#pragma once
// Kernels that also run on the CPU
// --------------------------------
// The vocabulary of compute/gpu/cuda/kernel/simt.h for the host. A kernel's .cuh is written in it,
// so that a test can run the kernel's body without a GPU. A test target links lab_simt, includes
// the .cuh and calls launch() (launch.h):
//
//   simt::GlobalArray<float> in("in", values), out("out", values.size());
//   const TransposeArgs args{in.data(), out.data(), rows, cols};
//   simt::launch({.grid = {2, 3}, .block = {32, 32}, .arrays = {in.input(), out}},
//                [&] { transpose_body<32>(args); });
//
// Blocks run one after another. Each thread of a block is a fiber that runs until it reaches a
// barrier or a warp operation. The order is fixed; `last_thread_first` reverses it. The first error
// detected ends the launch with a Fault that names the block and the thread:
//   - Shared memory: an index out of bounds, a read of unwritten memory, a misaligned access;
//     accesses by two threads, at least one a write, without a barrier between them, regardless of
//     the order in which the fibers ran. Atomics do not race with each other.
//   - copy_async: bytes used by any thread before copy_wait, or by another thread after it without
//     a barrier.
//   - Barriers: threads at different sync_threads, a thread that returns while others wait, lanes
//     that wait for different operations. This is stricter than the GPU, which ignores threads that
//     have returned.
//   - Warps: a value from a non-participating lane; tensor core operations without all lanes.
//   - Global memory given as `arrays`: bounds, alignment, writes to inputs, two writers of one
//     element, load_readonly of data written by the launch. Plain pointers are checked by
//     AddressSanitizer only.
// Not detected: races between blocks or through global memory beyond two writers, bank conflicts,
// uncoalesced loads, register spills, the GPU's own rounding inside mma.
//
// Each fiber's stack is registered with AddressSanitizer, so that arrays in a kernel's registers
// are checked as well.
#include "compute/gpu/emulator/memory/memory_operations.h"
#include "compute/gpu/emulator/vectors.h"
#include "compute/gpu/emulator/warp.h"

#define LAB_DEVICE inline
#define LAB_SHARED(T, name, ...)                             \
  static constexpr ::lab::simt::SharedTag name##_tag{#name}; \
  const ::lab::simt::SharedPtr<T> name =                     \
      ::lab::simt::shared_array<T>(name##_tag, static_cast<std::size_t>(__VA_ARGS__))
#define LAB_DYNAMIC_SHARED(T, name) \
  const ::lab::simt::SharedPtr<T> name = ::lab::simt::dynamic_shared_array<T>(#name)
#define LAB_UNROLL
#define LAB_UNROLL_BY(n)
#define LAB_NO_UNROLL
#define LAB_RESTRICT

#include "compute/gpu/cuda/kernel/simt_common.cuh"
