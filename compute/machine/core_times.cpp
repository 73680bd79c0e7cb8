#include "compute/machine/core_times.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace lab {
namespace {

constexpr std::int64_t kLeastTicks = 100;  // of one hardware thread: shares within a percent

}  // namespace

CoreTimes::CoreTimes(std::vector<int> hardware_threads, std::string root)
    : hardware_threads_(std::move(hardware_threads)),
      root_(std::move(root)),
      begin_(read_core_ticks(root_)),
      own_begin_s_(process_cpu_s()) {}

std::optional<double> CoreTimes::others() const {
  const double own_s = process_cpu_s() - own_begin_s_;
  const std::map<int, CoreTicks> end = read_core_ticks(root_);
  CoreTicks sum;
  for (const int thread : hardware_threads_) {
    const auto before = begin_.find(thread), after = end.find(thread);
    if (before == begin_.end() || after == end.end()) return {};
    const std::int64_t total = after->second.total - before->second.total;
    if (total < kLeastTicks) return {};
    sum.total += total;
    sum.busy += after->second.busy - before->second.busy;
  }
  if (sum.total == 0) return {};
  const double own_ticks = own_s * static_cast<double>(sysconf(_SC_CLK_TCK));
  const double others = static_cast<double>(sum.busy) - own_ticks;
  return std::clamp(others / static_cast<double>(sum.total), 0.0, 1.0);
}

}  // namespace lab
