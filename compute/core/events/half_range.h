#pragma once
// How far repetitions spread, in words.
#include <cstdint>
#include <string>

namespace lab {

// "±12 %": half of the range from p10 to p90, as a share of the median; "over ±50 %", where a
// figure minus its spread says nothing; "1 repetition". Empty without a median.
std::string half_range(double low, double high, double median, std::int64_t n);

}  // namespace lab
