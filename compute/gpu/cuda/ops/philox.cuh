#pragma once
// The random numbers of compute/tensor/random.h on the device, four at a time. Compiled without
// contraction into fused multiply-adds, as the CPU's.
#include <array>
#include <cmath>
#include <cstdint>

#include "compute/core/random_bits.h"
#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// Block `index` of stream 0.
LAB_DEVICE PhiloxBlock philox(std::uint64_t seed, std::uint64_t index) {
  return random::philox4x32({random::low_word(index), random::high_word(index), 0, 0},
                            {random::low_word(seed), random::high_word(seed)});
}

struct FourValues {
  float v[4];
};

LAB_DEVICE FourValues four_uniform(const PhiloxBlock& b) {
  return {{random::uniform_of(b[0]), random::uniform_of(b[1]), random::uniform_of(b[2]),
           random::uniform_of(b[3])}};
}

// Two Box-Muller pairs.
LAB_DEVICE FourValues four_normal(const PhiloxBlock& b) {
  const float r0 = sqrtf(random::squared_radius(b[0]));
  const float r1 = sqrtf(random::squared_radius(b[2]));
  const random::Turn t0 = random::turn_of(b[1]);
  const random::Turn t1 = random::turn_of(b[3]);
  return {{r0 * t0.cosine, r0 * t0.sine, r1 * t1.cosine, r1 * t1.sine}};
}

}  // namespace lab::cuda
