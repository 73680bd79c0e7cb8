#include "compute/experiments/matmul/matmul_site.h"

#include <fmt/format.h>

#include "compute/core/units.h"

namespace lab {

std::string would_take(double seconds, const CaseSettings& settings) {
  return fmt::format("would take about {} a run; the time budget is {}", format_seconds(seconds),
                     format_seconds(settings.budget_s));
}

}  // namespace lab
