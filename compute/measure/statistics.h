#pragma once
// Order statistics of repeated timings.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "compute/core/events/stats.h"

namespace lab {

// Returns the p-quantile (p in 0..1) of `sorted` (ascending, not empty), interpolated linearly
// between neighbours.
double quantile(std::span<const double> sorted, double p);

// Returns the median of `values`, in any order, not empty.
double median(std::vector<double> values);

// Returns the 0-based ranks of the order statistics that enclose the median of any continuous
// distribution with at least 95 % confidence: the narrowest symmetric pair by the binomial
// distribution B(n,1/2). Returns {0, n - 1} for n < 6, where no pair reaches 95 %.
// Source  David and Nagaraja, Order Statistics, 3rd ed., section 7.1
std::pair<std::int64_t, std::int64_t> median_interval(std::int64_t n);

// Returns the width of the median_interval() over the median; infinite for fewer than 6 values.
double median_spread(std::span<const double> sorted);

// Computes all of Timing except warm-up and stability. Sorts `times_s`.
Timing summarise(std::span<double> times_s);

}  // namespace lab
