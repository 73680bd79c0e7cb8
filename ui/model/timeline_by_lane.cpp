#include "ui/model/timeline_by_lane.h"

#include <algorithm>
#include <utility>

namespace lab::ui {

TimelineByLane::TimelineByLane(StepTimeline timeline)
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

const std::vector<std::size_t>& TimelineByLane::spans(int device, TimelineLane lane) const {
  return lanes_[place_of(device, lane)];
}

std::optional<TimelineGap> TimelineByLane::gap_at(int device, TimelineLane lane, double s) const {
  if (s < 0 || s > timeline_.seconds) return std::nullopt;
  TimelineGap gap{.begin_s = 0, .end_s = timeline_.seconds};
  for (const std::size_t i : spans(device, lane)) {
    const TimelineSpan& span = timeline_.spans[i];
    if (span.begin_s <= s && s <= span.end_s) return std::nullopt;
    if (span.end_s < s) gap.begin_s = std::max(gap.begin_s, span.end_s);
    if (span.begin_s > s) gap.end_s = std::min(gap.end_s, span.begin_s);
  }
  if (lane == TimelineLane::Compute) gap.cause = cause_of(device, gap);
  return gap;
}

// What took more than half of the gap.
GapCause TimelineByLane::cause_of(int device, const TimelineGap& gap) const {
  const double half_s = (gap.end_s - gap.begin_s) / 2;
  double sums_s = 0, wait_s = 0;
  for (const std::size_t i : spans(device, TimelineLane::Sums)) {
    const TimelineSpan& span = timeline_.spans[i];
    const double both_s = std::min(span.end_s, gap.end_s) - std::max(span.begin_s, gap.begin_s);
    (span.part < 0 ? wait_s : sums_s) += std::max(0.0, both_s);
  }
  if (sums_s > half_s) return GapCause::Sums;
  if (wait_s > half_s) return GapCause::SumsWait;
  bool own = false, others = false;
  for (const TimelineSpan& span : timeline_.spans) {
    if (span.end_s > gap.begin_s + half_s) (span.device == device ? own : others) = true;
  }
  return others && !own ? GapCause::OthersWait : GapCause::Unknown;
}

std::size_t TimelineByLane::place_of(int device, TimelineLane lane) const {
  return static_cast<std::size_t>(device) * kTimelineLanes.size() + static_cast<std::size_t>(lane);
}

}  // namespace lab::ui
