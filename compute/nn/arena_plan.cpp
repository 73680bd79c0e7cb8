#include "compute/nn/arena_plan.h"

#include <algorithm>
#include <numeric>

namespace lab::nn {
namespace {

bool live_together(const ArenaRequest& a, const ArenaRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

// `placed` is sorted by offset.
std::int64_t lowest_gap(const ArenaRequest& request, const std::vector<ArenaRequest*>& placed) {
  std::int64_t offset = 0;
  for (const ArenaRequest* other : placed) {
    if (!live_together(request, *other)) continue;
    if (offset + request.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace

std::int64_t plan_arena(std::vector<ArenaRequest>& requests) {
  std::vector<ArenaRequest*> by_size;
  for (ArenaRequest& request : requests) {
    request.bytes = (request.bytes + 63) / 64 * 64;
    by_size.push_back(&request);
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::vector<ArenaRequest*> placed;
  std::int64_t total = 0;
  for (ArenaRequest* request : by_size) {
    request->offset = lowest_gap(*request, placed);
    total = std::max(total, request->offset + request->bytes);
    const auto at =
        std::upper_bound(placed.begin(), placed.end(), request,
                         [](const auto* a, const auto* b) { return a->offset < b->offset; });
    placed.insert(at, request);
  }
  return total;
}

}  // namespace lab::nn
