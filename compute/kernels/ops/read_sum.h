#pragma once
// Reads an array as fast as the processor can load it, to measure read bandwidth.
#include <cstdint>

namespace lab::simd {

// Reads words[0..n) `passes` times and returns the sum of all words read, modulo 2^64. n >= 0, any
// alignment. The sum is exact in any order and uses every word, so no load can be optimised away.
// The SIMD target is selected at run time.
std::uint64_t read_sum(const std::uint64_t* words, std::int64_t n, std::int64_t passes = 1);

}  // namespace lab::simd
