#pragma once
// The definitions of compute/gpu/cuda/kernel/copy_engine.h for the host.
#include <cstddef>
#include <cstdint>
#include <variant>

#include "compute/gpu/cuda/kernel/copy_engine.h"
#include "compute/gpu/emulator/vocabulary.h"
#include "compute/gpu/emulator/wgmma.h"

namespace lab::simt {

using BarrierPtr = SharedPtr<Barrier>;

struct BoxMap {
  std::variant<PixelBoxes, WeightBoxes> boxes;
};

void barrier_init(const BarrierPtr& barrier, int arrivals);
void barrier_arrive(const BarrierPtr& barrier);
void barrier_expect(const BarrierPtr& barrier, int bytes);
void wait_for_phase(const BarrierPtr& barrier, int parity, const Where& where);
template <WaitFor kWhat>
void barrier_wait(const BarrierPtr& barrier, int parity, const Where& where = Where::here()) {
  wait_for_phase(barrier, parity, where);
}

void copy_pixels(const Box& to, const BoxMap& from, int first_channel, const PixelPlace& place,
                 int tap_x, int tap_y, const BarrierPtr& done);
void copy_weights(const Box& to, const BoxMap& from, int first_channel, int tap, int first_row,
                  const BarrierPtr& done);

inline void publish_barriers() {}

}  // namespace lab::simt
