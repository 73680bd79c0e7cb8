#pragma once
// Lengths of arrays that kernels are tested with, in the emulator and on a GPU.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace lab::test {

// One, parts of a piece of 16 bytes, around a block's threads, several turns of a grid's loop.
inline constexpr std::array<std::int64_t, 17> kElementCounts = {
    1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 1023, 1024, 1025, 2500, 4096, 4097, 10'002};

// Those and `more`.
inline std::vector<std::int64_t> counts_with(std::initializer_list<std::int64_t> more) {
  std::vector<std::int64_t> counts(kElementCounts.begin(), kElementCounts.end());
  counts.insert(counts.end(), more);
  return counts;
}

}  // namespace lab::test
