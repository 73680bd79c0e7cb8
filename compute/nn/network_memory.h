#pragma once
// Places arrays with known lifetimes in one block of memory; those that never live together share.
// The source also places the arrays of a Network.
#include <cstdint>
#include <vector>

namespace lab::nn {

struct ArenaRequest {
  std::int64_t bytes = 0;
  int first = 0, last = 0;  // ticks of the step between which the content matters, both included
  std::int64_t offset = 0;  // the answer, a multiple of 64
};

// Fills in the offsets and returns the size of the block. Largest first, each at the lowest place
// where it overlaps nobody who lives at the same time.
std::int64_t plan_arena(std::vector<ArenaRequest>& requests);

}  // namespace lab::nn
