#pragma once
// What Hopper adds and the vocabulary of simt.h does not have: mbarriers, the copy engine for
// tensor boxes (TMA), and wgmma. Plain CUDA for sm_90a; no emulator runs it.
#include <cuda.h>

#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda_matmul::hopper {

using Barrier = std::uint64_t;  // in shared memory

LAB_DEVICE void init(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(simt::shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// What generic stores wrote into shared memory is seen by the copy engine and by wgmma. Before the
// barrier that says so.
LAB_DEVICE void publish_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// After init() and before the barrier of the block or cluster: the copy engine and the cluster's
// other blocks see the barriers too.
LAB_DEVICE void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  publish_stores();
}
LAB_DEVICE void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(simt::shared_address(barrier))
               : "memory");
}
// Arrives, and lets the phase end only after so many bytes of copies.
LAB_DEVICE void arrive_expecting(Barrier* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(simt::shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Returns once the phase of this parity has ended: 0 for the first, 1 for the second, 0 ...
LAB_DEVICE void wait(Barrier* barrier, int parity) {
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(simt::shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

// Copies the map's box with its first element at (col, row); what lies outside of the matrix
// becomes zeros, and counts as copied bytes all the same.
LAB_DEVICE void copy_box(void* to, const CUtensorMap& map, int col, int row, Barrier* done) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(simt::shared_address(to)),
      "l"(&map), "r"(col), "r"(row), "r"(simt::shared_address(done))
      : "memory");
}

// Registers of every thread of the warpgroup from now on.
template <int kRegisters>
LAB_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
LAB_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace lab::cuda_matmul::hopper
