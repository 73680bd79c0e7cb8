#include "app/window/frame_pacer.h"

#include <algorithm>

namespace lab::app {
namespace {

double smoothed(double before, double now) {
  return before == 0 ? now : 0.8 * before + 0.2 * now;
}

}  // namespace

void FramePacer::request_redraw(double now_s) {
  settle_frames_ = kSettleFrames;
  last_input_s_ = now_s;
}

void FramePacer::frame_drawn(double now_s, double thread_cpu_s, double cpu_s) {
  last_frame_s_ = now_s;
  frame_thread_cpu_s_ = smoothed(frame_thread_cpu_s_, thread_cpu_s);
  frame_cpu_s_ = smoothed(frame_cpu_s_, cpu_s);
  settle_frames_ = std::max(0, settle_frames_ - 1);
  results_ = gauges_ = animate_ = false;
}

double FramePacer::interval_s(double now_s, Activity activity) const {
  const bool by_hand =
      settle_frames_ > 0 || (animate_ && now_s - last_input_s_ < limits_.animation_after_input_s);
  if (!by_hand && !results_ && !gauges_ && !animate_) return kForever;
  if (activity == Activity::Timing) return limits_.timing_interval_s;
  if (by_hand) return 0;
  if (activity == Activity::Busy) return busy_interval_s();
  if (results_) return limits_.busy_interval_s;
  if (!gauges_) return kForever;
  return std::clamp(frame_cpu_s_ / limits_.idle_cpu_share, limits_.idle_interval_s,
                    limits_.longest_idle_s);
}

// The job's threads run meanwhile, so only the time of the window's thread is known to be a
// frame's.
double FramePacer::busy_interval_s() const {
  return std::clamp(frame_thread_cpu_s_ / limits_.busy_cpu_share, limits_.busy_interval_s,
                    std::max(limits_.busy_interval_s, limits_.longest_busy_s));
}

double FramePacer::wait_s(double now_s, Activity activity, bool hidden) const {
  if (hidden) return kForever;
  const double interval = interval_s(now_s, activity);
  if (interval == kForever) return kForever;
  return std::max(0.0, last_frame_s_ + interval - now_s);
}

}  // namespace lab::app
