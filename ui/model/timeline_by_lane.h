#pragma once
// The timeline of a step as its card draws it.
#include <optional>
#include <vector>

#include "compute/core/events/step_timeline.h"

namespace lab::ui {

// What a device did in a gap of its compute lane, as far as that was recorded.
enum class GapCause {
  Unknown,
  Sums,        // its cores summed buckets
  SumsWait,    // backward had ended, the sums were not complete
  OthersWait,  // its part of the step was over, that of another device was not
};

// A time without a span in a lane.
struct TimelineGap {
  double begin_s = 0, end_s = 0;
  GapCause cause = GapCause::Unknown;  // of the compute lane
};

// A recorded step with its spans grouped by device and lane, once for all frames.
class TimelineByLane {
 public:
  explicit TimelineByLane(StepTimeline timeline);

  const StepTimeline& timeline() const { return timeline_; }
  // Positions in timeline().spans in the order in which they are drawn: waits before the sums that
  // they contain, otherwise as recorded. `device` is a position in timeline().devices.
  const std::vector<std::size_t>& spans(int device, TimelineLane lane) const;
  // The gap of the lane at `s`; empty inside a span or outside the step.
  std::optional<TimelineGap> gap_at(int device, TimelineLane lane, double s) const;

 private:
  GapCause cause_of(int device, const TimelineGap& gap) const;
  std::size_t place_of(int device, TimelineLane lane) const;

  StepTimeline timeline_;
  std::vector<std::vector<std::size_t>> lanes_;  // by device, then as kTimelineLanes
};

}  // namespace lab::ui
