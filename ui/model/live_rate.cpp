#include "ui/model/live_rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lab::ui {

LiveRate live_rate(const Column64& samples) {
  Column64 sorted = samples;
  std::ranges::sort(sorted);
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(sorted.size() - 1)))];
  };
  return {.last = samples.back(), .p10 = at(0.1), .median = at(0.5), .p90 = at(0.9)};
}

}  // namespace lab::ui
