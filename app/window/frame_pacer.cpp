#include "app/window/frame_pacer.h"

#include <algorithm>

namespace lab::app {

void FramePacer::request_redraw(double now_s) {
  settle_frames_ = kSettleFrames;
  last_input_s_ = now_s;
}

void FramePacer::frame_drawn(double now_s, double cpu_s) {
  last_frame_s_ = now_s;
  frame_cpu_s_ = frame_cpu_s_ == 0 ? cpu_s : 0.8 * frame_cpu_s_ + 0.2 * cpu_s;
  settle_frames_ = std::max(0, settle_frames_ - 1);
  results_ = gauges_ = animate_ = false;
}

double FramePacer::interval_s(double now_s, Activity activity) const {
  const bool by_hand =
      settle_frames_ > 0 || (animate_ && now_s - last_input_s_ < limits_.animation_after_input_s);
  if (!by_hand && !results_ && !gauges_ && !animate_) return kForever;
  if (activity == Activity::Timing) return limits_.timing_interval_s;
  if (by_hand) return 0;
  if (results_ || (activity == Activity::Busy && gauges_)) return limits_.busy_interval_s;
  if (!gauges_) return activity == Activity::Busy ? limits_.busy_interval_s : kForever;
  return std::clamp(frame_cpu_s_ / limits_.idle_cpu_share, limits_.idle_interval_s,
                    limits_.longest_idle_s);
}

double FramePacer::wait_s(double now_s, Activity activity, bool hidden) const {
  if (hidden) return kForever;
  const double interval = interval_s(now_s, activity);
  if (interval == kForever) return kForever;
  return std::max(0.0, last_frame_s_ + interval - now_s);
}

}  // namespace lab::app
