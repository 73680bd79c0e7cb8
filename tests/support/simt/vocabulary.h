#pragma once
// Kernels that run on the CPU too
// -------------------------------
// The vocabulary of compute/gpu/cuda/kernel/simt.h, for the host: what a kernel's .cuh is written
// in, so that a test can run its body where no GPU is. A test target links lab_simt, includes the
// .cuh and calls launch() (launch.h):
//
//   simt::GlobalArray<float> in("in", values), out("out", values.size());
//   const TransposeArgs args{in.data(), out.data(), rows, cols};
//   simt::launch({.grid = {2, 3}, .block = {32, 32}, .arrays = {in.input(), out}},
//                [&] { transpose_body<32>(args); });
//
// Blocks run one after another. Each thread of a block is a fiber that runs until it comes to a
// barrier or to an operation of its warp; the order is fixed, and `last_thread_first` turns it
// around. The first thing that is wrong ends the launch as a Fault that names block and thread:
//   - shared memory: an index out of its array, a read of what nobody wrote, an access that its
//     width does not divide; two threads, one of them writing, without a barrier between, whatever
//     order the fibers happened to run in; atomics do not race with each other
//   - copy_async: bytes used before copy_wait by anyone, or after it by another thread without a
//     barrier
//   - barriers: threads at different sync_threads, a thread that has left while others wait, lanes
//     that wait for different operations. Stricter than the GPU, which lets leavers go
//   - warps: a value from a lane that takes no part; tensor core operations without all lanes
//   - global memory given as `arrays`: bounds, alignment, writes to inputs, two writers of one
//     element, load_readonly of what the launch wrote. Plain pointers are checked by the address
//     sanitizer alone
// It does not find: races between blocks or through global memory beyond two writers, bank
// conflicts, uncoalesced loads, registers spilled, the GPU's own rounding inside mma.
//
// Under the address sanitizer each fiber's stack is known to it, so that arrays in a kernel's
// registers are checked as well.
#include "tests/support/simt/memory_operations.h"
#include "tests/support/simt/vectors.h"
#include "tests/support/simt/warp.h"

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
