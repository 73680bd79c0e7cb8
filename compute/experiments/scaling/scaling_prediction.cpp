#include "compute/experiments/scaling/scaling_prediction.h"

#include <algorithm>

namespace lab {
namespace {

// Where cores are shared, sums wait for turns; those times say little about memory.
std::vector<SumPoint> sum_points(const std::vector<ScalingPoint>& points) {
  std::vector<SumPoint> own_cores, all;
  for (const ScalingPoint& p : points) {
    if (p.devices < 2 || !(p.split.all_reduce_s > 0)) continue;
    all.push_back({p.devices, p.split.all_reduce_s});
    if (!p.shares_cores) own_cores.push_back(all.back());
  }
  return own_cores.empty() ? all : own_cores;
}

}  // namespace

std::vector<int> doubling_counts(int largest) {
  std::vector<int> counts;
  for (int n = 1; n < largest; n *= 2) counts.push_back(n);
  if (largest > 0) counts.push_back(largest);
  return counts;
}

ScalingPrediction predict(const Workload& work, const Link& link, SumStyle style,
                          const PredictionCase& what, int devices) {
  const std::int64_t batch = what.mode == ScalingMode::Strong ? what.batch : what.batch * devices;
  const PredictedStep one = predict_step(work, link, style, 1, what.batch);
  const PredictedStep step = predict_step(work, link, style, devices, batch);
  ScalingPrediction p;
  p.mode = what.mode;
  p.devices = devices;
  p.link = link.name;
  p.basis = what.basis;
  p.batch = batch;
  p.step_s = step.step_s;
  p.images_per_s = static_cast<double>(batch) / step.step_s;
  p.speedup = p.images_per_s * one.step_s / static_cast<double>(what.batch);
  p.efficiency = p.speedup / devices;
  p.split = step.split;
  return p;
}

std::vector<ScalingPrediction> explain(const Workload& work, const PredictionCase& what,
                                       const std::vector<ScalingPoint>& points,
                                       const std::vector<double>& core_loads) {
  const std::vector<SumPoint> sums = sum_points(points);
  if (sums.empty()) return {};
  const Link memory = fit_link("memory", "measured here", work, sums);
  std::vector<ScalingPrediction> predictions;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Workload shared = work;
    shared.compute.fixed_s *= core_loads[i];
    shared.compute.per_image_s *= core_loads[i];
    ScalingPrediction p = predict(shared, memory, SumStyle::OnCores, what, points[i].devices);
    p.speedup /= core_loads[i];  // one device alone has its core to itself
    p.efficiency /= core_loads[i];
    p.measured_step_s = points[i].step.median_s;
    predictions.push_back(std::move(p));
  }
  return predictions;
}

}  // namespace lab
