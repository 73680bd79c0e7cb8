#include "app/headless/scaling_results.h"

namespace lab::app {

std::vector<ScalingPoint> ScalingResults::take() {
  std::vector<ScalingPoint> points;
  for (const auto& [key, point] : points_) points.push_back(point);
  points_.clear();
  return points;
}

}  // namespace lab::app
