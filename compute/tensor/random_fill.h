#pragma once
// Whole Philox blocks by vector instructions, chosen at run time.
#include <cstdint>

#include "compute/tensor/random.h"

namespace lab::random {

// out[4 * i + j] = value 4 * (first + i) + j of the stream, i in [0, n).
void uniform_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n, float* out);
void normal_blocks(const RandomStream& stream, std::uint64_t first, std::uint64_t n, float* out);

}  // namespace lab::random
