#pragma once
// The timeline of a step as its card draws it.
#include <vector>

#include "compute/core/events/step_timeline.h"

namespace lab::ui {

// A recorded step with its spans grouped by device and lane, once for all frames.
class LanedStep {
 public:
  explicit LanedStep(StepTimeline timeline);

  const StepTimeline& timeline() const { return timeline_; }
  // Positions in timeline().spans in the order in which they are drawn: waits before the sums that
  // they contain, otherwise as recorded. `device` is a position in timeline().devices.
  const std::vector<std::size_t>& spans(int device, TimelineLane lane) const;

 private:
  std::size_t place_of(int device, TimelineLane lane) const;

  StepTimeline timeline_;
  std::vector<std::vector<std::size_t>> lanes_;  // by device, then as kTimelineLanes
};

}  // namespace lab::ui
