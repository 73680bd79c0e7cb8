#include "compute/core/events/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lab {

double Spread::error() const {
  return n > 0 ? deviation / std::sqrt(static_cast<double>(n)) : 0;
}

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty()) return spread;
  spread.n = std::ssize(values);
  const auto n = static_cast<double>(spread.n);
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - spread.mean) * (v - spread.mean);
  if (spread.n > 1) spread.deviation = std::sqrt(squares / (n - 1));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  spread.least = *least;
  spread.most = *most;
  return spread;
}

std::string mean_text(const Spread& spread, std::string_view unit) {
  return unit == "x" ? fmt::format("{:.2f}x \u00b1 {:.2f}", spread.mean, spread.deviation)
                     : fmt::format("{:.3f} \u00b1 {:.3f}", spread.mean, spread.deviation);
}

}  // namespace lab
