#include "compute/core/events/stats.h"

#include <fmt/format.h>

#include "compute/core/language.h"

namespace lab {

std::string half_range(double low, double high, double median, std::int64_t n) {
  if (median <= 0) return {};
  if (n == 1) return tr("1 repetition");
  constexpr double kMost = 0.5;
  const double half = (high - low) / 2 / median;
  if (half > kMost) return tr("over ±50 %");
  const double shown = 100 * half;
  return fmt::format("±{:.{}f} %", shown, shown < 0.0995 ? 2 : shown < 9.95 ? 1 : 0);
}

}  // namespace lab
