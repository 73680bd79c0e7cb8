#pragma once
// Blocks of one cluster: their ranks, barriers in each other's shared memory, and copies that all
// of them get. For sm_90a.
#include "compute/gpu/cuda/matmul/hopper.cuh"

namespace lab::cuda_matmul::hopper {

LAB_DEVICE int cluster_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return int(rank);
}

// All threads of all blocks: what they did in shared memory before it is done.
LAB_DEVICE void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// Arrives at the barrier that lies at the same place in the block of this rank. It says that wgmma
// has read a stage and shows no one any store: a wider scope than the default would put a fence of
// the whole GPU into each stage.
LAB_DEVICE void arrive_at(Barrier* barrier, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(simt::shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// As copy_box(), into the same place of each block whose rank's bit is set in `blocks`, and counted
// at its barrier.
LAB_DEVICE void copy_box_to(int blocks, void* to, const CUtensorMap& map, int col, int row,
                            Barrier* done) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(simt::shared_address(to)),
      "l"(&map), "r"(col), "r"(row), "r"(simt::shared_address(done)),
      "h"(static_cast<std::uint16_t>(blocks))
      : "memory");
}

}  // namespace lab::cuda_matmul::hopper
