#pragma once
// The sum of several arrays, written to several arrays: the inner step of an all-reduce.
#include <cstdint>
#include <span>

namespace lab::simd {

// target[j][i] = source[0][i] + source[1][i] + ..., added in this order, for i in [begin, end) and
// every j. Targets may be among the sources. Without a source the sum is 0.
void sum_arrays(std::span<const float* const> sources, std::span<float* const> targets,
                std::int64_t begin, std::int64_t end);

}  // namespace lab::simd
