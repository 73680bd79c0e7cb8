#pragma once
// The definitions of copy_engine.h for nvcc. Include copy_engine.h, not this header.
#include <cuda.h>

#include "compute/gpu/cuda/matmul/rungs/hopper.cuh"

namespace lab::simt {

struct BoxMap {
  CUtensorMap map;
};

LAB_DEVICE void barrier_init(Barrier* barrier, int arrivals) {
  cuda_matmul::hopper::init(barrier, arrivals);
}
LAB_DEVICE void publish_barriers() {
  cuda_matmul::hopper::publish_barriers();
}
LAB_DEVICE void barrier_arrive(Barrier* barrier) {
  cuda_matmul::hopper::arrive(barrier);
}
LAB_DEVICE void barrier_expect(Barrier* barrier, int bytes) {
  cuda_matmul::hopper::arrive_expecting(barrier, bytes);
}
template <WaitFor kWhat>
LAB_DEVICE void barrier_wait(Barrier* barrier, int parity) {
  cuda_matmul::hopper::wait<kWhat>(barrier, parity);
}

LAB_DEVICE void copy_pixels(Box to, const BoxMap& from, int first_channel, const PixelPlace& place,
                            int tap_x, int tap_y, Barrier* done) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
      "l"(&from.map), "r"(first_channel), "r"(place.x), "r"(place.y), "r"(place.image),
      "r"(shared_address(done)), "h"(static_cast<std::uint16_t>(tap_x)),
      "h"(static_cast<std::uint16_t>(tap_y))
      : "memory");
}
LAB_DEVICE void copy_weights(Box to, const BoxMap& from, int first_channel, int tap, int first_row,
                             Barrier* done) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&from.map), "r"(first_channel), "r"(tap), "r"(first_row), "r"(shared_address(done))
      : "memory");
}

}  // namespace lab::simt
