#pragma once
// From what is known of one device to what many would do, as results to show.
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/scaling/scaling_model.h"

namespace lab {

// 1, 2, 4, ... and `largest` itself; empty for 0.
std::vector<int> doubling_counts(int largest);

struct PredictionCase {
  ScalingMode mode = ScalingMode::Strong;
  std::int64_t batch = 0;  // of one device (weak) or of all (strong)
  std::string basis;
};

// One number of devices over the link, against one device of the same workload.
ScalingPrediction predict(const Workload& work, const Link& link, SumStyle style,
                          const PredictionCase& what, int devices);

// The model against measured numbers of devices: compute as one device alone took it, sums over a
// link fitted to the measured ones. `core_loads`: for each point how many of its devices share a
// core. Empty when no point has two devices or more.
std::vector<ScalingPrediction> explain(const Workload& work, const PredictionCase& what,
                                       const std::vector<ScalingPoint>& points,
                                       const std::vector<double>& core_loads);

}  // namespace lab
