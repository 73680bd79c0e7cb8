#pragma once
// Which gradients are summed over the devices together, and when.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lab {

// A contiguous piece of the flat gradient array.
struct GradientBucket {
  std::int64_t begin = 0, end = 0;                  // floats
  std::size_t first_parameter = 0, parameters = 0;  // those whose gradients it holds
  std::int64_t bytes() const { return (end - begin) * 4; }
};

// What nothing can hide, since backward ends when it is full.
inline constexpr std::int64_t kLastBucketBytes = std::int64_t{1} << 20;

// In the order in which backward fills them: last parameters first, each bucket of at most
// `bucket_bytes`, a larger parameter by itself; the last one of at most `last_bytes`. `offsets`:
// where the parameters begin in the flat array, ascending from 0, and behind them its end.
// Source  Li et al., "PyTorch Distributed", VLDB 2020, for buckets in reverse order
std::vector<GradientBucket> plan_buckets(std::span<const std::int64_t> offsets,
                                         std::int64_t bucket_bytes,
                                         std::int64_t last_bytes = kLastBucketBytes);

}  // namespace lab
