#include "compute/train/data_parallel/gradient_reducer.h"

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
  // Number of leading parameters reserved for the last bucket.
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

BucketCountdown::BucketCountdown(GradientReducer* reducer, std::size_t replica,
                                 std::span<const GradientBucket> buckets)
    : reducer_(reducer), replica_(replica), buckets_(buckets), missing_(buckets.size()) {}

void BucketCountdown::reset() {
  next_ = 0;
  for (std::size_t b = 0; b < missing_.size(); ++b) missing_[b] = buckets_[b].parameters;
}

void BucketCountdown::gradient_ready(std::size_t parameter) {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const std::size_t first = buckets_[b].first_parameter;
    if (parameter < first || parameter >= first + buckets_[b].parameters) continue;
    --missing_[b];
  }
  announce();
}

void BucketCountdown::all_ready() {
  std::fill(missing_.begin(), missing_.end(), 0);
  announce();
}

void BucketCountdown::announce() {
  if (reducer_ == nullptr) return;
  while (next_ < missing_.size() && missing_[next_] == 0) reducer_->ready(replica_, next_++);
}

}  // namespace lab
