#pragma once
// Equal parts of a range.
#include <algorithm>
#include <cstdint>

namespace lab {

// Part `index` of `parts` of [0, n): contiguous, depends on its arguments alone.
struct Slice {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};
inline Slice slice_of(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const std::int64_t each = (n + parts - 1) / parts;
  return {std::min(n, each * index), std::min(n, each * (index + 1))};
}

// How many of the `parts` slices of [0, n) are not empty: the first ones.
inline std::int64_t filled_slices(std::int64_t n, std::int64_t parts) {
  std::int64_t filled = 0;
  while (filled < parts && !slice_of(n, parts, filled).empty()) ++filled;
  return filled;
}

}  // namespace lab
