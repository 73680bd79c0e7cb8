#pragma once
// Divides a range into equal parts.
#include <algorithm>
#include <cstdint>

namespace lab {

// Part `index` of `parts` of [0, n): contiguous, and determined by the arguments only. Lengths
// differ by at most 1.
struct Slice {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};
inline Slice slice_of(std::int64_t n, std::int64_t parts, std::int64_t index) {
  return {n * index / parts, n * (index + 1) / parts};
}

// Returns in how many parts a sum over n items is computed; the parts' sums are then added in
// order. Each part has at least `fewest` items, if n suffices. Depends on the arguments
// only, so that a sum's bits do not depend on the number of threads.
inline std::int64_t sum_parts(std::int64_t n, std::int64_t fewest, std::int64_t most = 32) {
  return std::clamp<std::int64_t>(n / fewest, 1, most);
}

}  // namespace lab
