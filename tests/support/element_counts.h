#pragma once
// Array lengths for kernel tests, in the emulator and on a GPU.
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace lab::test {

// One element, fractions of a 16-byte vector, values around the block size, and several iterations
// of the grid-stride loop.
inline constexpr std::array<std::int64_t, 17> kElementCounts = {
    1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 1023, 1024, 1025, 2500, 4096, 4097, 10'002};

// Returns kElementCounts followed by `more`.
inline std::vector<std::int64_t> counts_with(std::initializer_list<std::int64_t> more) {
  std::vector<std::int64_t> counts(kElementCounts.begin(), kElementCounts.end());
  counts.insert(counts.end(), more);
  return counts;
}

}  // namespace lab::test
