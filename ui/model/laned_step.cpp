#include "ui/model/laned_step.h"

#include <algorithm>
#include <utility>

namespace lab::ui {

LanedStep::LanedStep(StepTimeline timeline)
    : timeline_(std::move(timeline)), lanes_(timeline_.devices.size() * kTimelineLanes.size()) {
  const std::vector<TimelineSpan>& spans = timeline_.spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    lanes_[place_of(spans[i].device, spans[i].lane)].push_back(i);
  }
  for (std::vector<std::size_t>& lane : lanes_) {
    std::stable_partition(lane.begin(), lane.end(),
                          [&](std::size_t i) { return spans[i].part < 0; });
  }
}

const std::vector<std::size_t>& LanedStep::spans(int device, TimelineLane lane) const {
  return lanes_[place_of(device, lane)];
}

std::size_t LanedStep::place_of(int device, TimelineLane lane) const {
  return static_cast<std::size_t>(device) * kTimelineLanes.size() + static_cast<std::size_t>(lane);
}

}  // namespace lab::ui
