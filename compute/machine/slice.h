#pragma once
// Divides a range into equal parts.
#include <algorithm>
#include <cstdint>

namespace lab {

// Part `index` of `parts` of [0, n): contiguous, and determined by the arguments only.
struct Slice {
  std::int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};
inline Slice slice_of(std::int64_t n, std::int64_t parts, std::int64_t index) {
  const std::int64_t each = (n + parts - 1) / parts;
  return {std::min(n, each * index), std::min(n, each * (index + 1))};
}

// Returns how many of the `parts` slices of [0, n) are nonempty; these are the first ones.
inline std::int64_t filled_slices(std::int64_t n, std::int64_t parts) {
  std::int64_t filled = 0;
  while (filled < parts && !slice_of(n, parts, filled).empty()) ++filled;
  return filled;
}

}  // namespace lab
