#include "compute/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab {
namespace {

constexpr double kOneSidedRisk = 0.025;   // per side, leaving 95 % in between
constexpr std::int64_t kExactUpTo = 200;  // above this, the normal approximation is off by < 1 rank

}  // namespace

double quantile(std::span<const double> sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

std::pair<std::int64_t, std::int64_t> median_interval(std::int64_t n) {
  if (n < kFewestForSpread) return {0, n - 1};
  std::int64_t low = 0;
  if (n <= kExactUpTo) {
    // The largest rank (from 1) with P(B(n,1/2) < rank) <= risk.
    double term = std::pow(0.5, static_cast<double>(n));
    double below = 0;
    while (below + term <= kOneSidedRisk) {
      below += term;
      term *= static_cast<double>(n - low) / static_cast<double>(low + 1);
      ++low;
    }
  } else {
    const double half = static_cast<double>(n) / 2;
    low = static_cast<std::int64_t>(half - 1.96 * std::sqrt(half / 2));
  }
  low = std::max<std::int64_t>(low, 1);
  return {low - 1, n - low};
}

double median_spread(std::span<const double> sorted) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  if (n < kFewestForSpread) return std::numeric_limits<double>::infinity();
  const auto [low, high] = median_interval(n);
  const double width =
      sorted[static_cast<std::size_t>(high)] - sorted[static_cast<std::size_t>(low)];
  const double middle = quantile(sorted, 0.5);
  if (width <= 0) return 0;
  return middle > 0 ? width / middle : std::numeric_limits<double>::infinity();
}

Timing summarise(std::span<double> times_s) {
  Timing t;
  t.n = static_cast<std::int64_t>(times_s.size());
  if (times_s.empty()) return t;
  std::sort(times_s.begin(), times_s.end());
  t.median_s = quantile(times_s, 0.5);
  t.p10_s = quantile(times_s, 0.1);
  t.p90_s = quantile(times_s, 0.9);
  t.min_s = times_s.front();
  t.max_s = times_s.back();
  return t;
}

}  // namespace lab
