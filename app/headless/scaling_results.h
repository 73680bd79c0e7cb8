#pragma once
// The measured points of a scaling job: each is reported again when it is known better.
#include <map>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"

namespace lab::app {

class ScalingResults {
 public:
  // Replaces what was known of the same mode and number of devices.
  void add(const ScalingPoint& point) { points_[{point.mode, point.devices}] = point; }

  // Strong before weak, fewer devices first; they are forgotten here.
  std::vector<ScalingPoint> take();

 private:
  std::map<std::pair<ScalingMode, int>, ScalingPoint> points_;
};

}  // namespace lab::app
