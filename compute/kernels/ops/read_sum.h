#pragma once
// Reads an array as fast as the processor can load it: what bandwidth is measured with.
#include <cstdint>

namespace lab::simd {

// The sum of words[0..n) modulo 2^64, n >= 0, any alignment, read `passes` times over and added up
// as often. Exact in any order, and it uses every word, so that no load can be left out. SIMD,
// chosen at run time.
std::uint64_t read_sum(const std::uint64_t* words, std::int64_t n, std::int64_t passes = 1);

}  // namespace lab::simd
