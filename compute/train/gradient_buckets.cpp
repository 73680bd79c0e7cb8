#include "compute/train/gradient_buckets.h"

#include <algorithm>

namespace lab {

std::vector<GradientBucket> plan_buckets(std::span<const std::int64_t> offsets,
                                         std::int64_t bucket_bytes, std::int64_t last_bytes) {
  std::vector<GradientBucket> buckets;
  const std::size_t parameters = offsets.empty() ? 0 : offsets.size() - 1;
  if (parameters == 0) return buckets;
  const auto bytes = [&](std::size_t from, std::size_t to) {
    return (offsets[to] - offsets[from]) * 4;
  };
  // The first parameters, kept for the last bucket.
  std::size_t kept = 1;
  while (kept < parameters && bytes(0, kept + 1) <= std::min(bucket_bytes, last_bytes)) ++kept;

  std::size_t end = parameters;
  while (end > 0) {
    const std::size_t stop = end > kept ? kept : 0;
    std::size_t begin = end - 1;
    while (begin > stop && bytes(begin - 1, end) <= bucket_bytes) --begin;
    buckets.push_back({.begin = offsets[begin],
                       .end = offsets[end],
                       .first_parameter = begin,
                       .parameters = end - begin});
    end = begin;
  }
  return buckets;
}

}  // namespace lab
