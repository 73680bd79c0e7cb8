#include "compute/train/step_split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/measure/statistics.h"

namespace lab {

StepSplit split_of(std::span<const DeviceStep> devices) {
  StepSplit mean;
  const double n = static_cast<double>(devices.size());
  for (const DeviceStep& d : devices) {
    mean.compute_s += d.compute_s / n;
    mean.all_reduce_s += d.all_reduce_s / n;
    mean.exposed_s += d.exposed_s / n;
    mean.imbalance_s += d.wait_s / n;
  }
  return mean;
}

StepSplit median_split(std::span<const StepSplit> steps) {
  if (steps.empty()) return {};
  const auto median_of = [&](double StepSplit::*part) {
    std::vector<double> values;
    values.reserve(steps.size());
    for (const StepSplit& s : steps) values.push_back(s.*part);
    return median(std::move(values));
  };
  return {.compute_s = median_of(&StepSplit::compute_s),
          .all_reduce_s = median_of(&StepSplit::all_reduce_s),
          .exposed_s = median_of(&StepSplit::exposed_s),
          .imbalance_s = median_of(&StepSplit::imbalance_s)};
}

double hidden_share(const StepSplit& split) {
  return split.all_reduce_s > 0 ? std::max(0.0, 1 - split.exposed_s / split.all_reduce_s) : 0;
}

}  // namespace lab
