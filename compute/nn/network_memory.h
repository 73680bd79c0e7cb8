#pragma once
// Arena planning: arrays whose lifetimes do not overlap share memory. The source file also places
// the arrays of a Network.
#include <cstdint>
#include <vector>

namespace lab::nn {

struct ArenaRequest {
  std::int64_t bytes = 0;
  int first = 0, last = 0;  // first and last tick at which the content is needed, inclusive
  std::int64_t offset = 0;  // result; a multiple of 64
};

// Fills in the offsets and returns the arena's size in bytes. Requests are rounded up to 64 bytes
// and placed one after the other, each at the lowest offset where it overlaps no request with an
// overlapping lifetime. Two orders are tried, by decreasing size and by decreasing product of size
// and lifetime, and the smaller arena is taken.
std::int64_t plan_arena(std::vector<ArenaRequest>& requests);

}  // namespace lab::nn
