#pragma once
// The time of a call that bench_gemm_shapes and its peers report.
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "compute/measure/measure.h"

namespace lab::bench {

// Mean is the time of a whole slice over the number of its calls, so that it includes delays that
// only some calls suffer.
enum class Statistic { Median, Fastest, Mean };
inline constexpr std::array<std::string_view, 3> kStatistics = {"median", "fastest", "mean"};

inline std::string_view name_of(Statistic statistic) {
  return kStatistics[static_cast<std::size_t>(statistic)];
}
inline std::optional<Statistic> statistic_named(std::string_view name) {
  for (std::size_t i = 0; i < kStatistics.size(); ++i) {
    if (name == kStatistics[i]) return static_cast<Statistic>(i);
  }
  return std::nullopt;
}

inline MeasureOptions slice_of(double seconds) {
  return {.budget_s = seconds, .min_time_s = seconds / 2};
}

// Calls `body` for about `slice_s` seconds, a few calls of warm-up included.
inline double seconds_per_call(const std::function<void()>& body, double slice_s,
                               Statistic statistic) {
  if (statistic == Statistic::Mean) {
    for (int i = 0; i < 3; ++i) body();
    const double begin = monotonic_s();
    double now = begin;
    double calls = 0;
    do {
      body();
      ++calls;
      now = monotonic_s();
    } while (now < begin + slice_s);
    return (now - begin) / calls;
  }
  const Timing time = measure(body, slice_of(slice_s));
  return statistic == Statistic::Fastest ? time.min_s : time.median_s;
}

}  // namespace lab::bench
