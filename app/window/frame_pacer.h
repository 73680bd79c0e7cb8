#pragma once
// When to draw: at once for a person, rarely for numbers that move by themselves, never for nobody.
// Pure arithmetic on times; no clock and no window.
#include <limits>

namespace lab::app {

enum class Activity {
  Idle,    // no job
  Busy,    // a job that drawing may disturb a little
  Timing,  // a job that measures time: at most five frames a second, whatever happens
};

struct PacerLimits {
  double timing_interval_s = 0.2;
  double busy_interval_s = 1.0 / 30;
  double idle_interval_s = 1;     // between frames that only move gauges
  double longest_idle_s = 5;      // however dear a frame is
  double idle_cpu_share = 0.006;  // of one core, for frames that only move gauges
  double animation_after_input_s = 2;
};

class FramePacer {
 public:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  explicit FramePacer(PacerLimits limits) : limits_(limits) {}

  // A person did something, or the picture was lost. ImGui needs a few frames to settle.
  void attention(double now_s);
  void results() { results_ = true; }  // a job has news
  void gauges() { gauges_ = true; }    // telemetry has news
  void animate() { animate_ = true; }  // a widget is moving
  void drawn(double now_s, double cpu_s);

  // Seconds until the next frame is due: 0 now, kForever when nothing waits to be drawn.
  double wait_s(double now_s, Activity activity, bool hidden) const;

 private:
  static constexpr int kSettleFrames = 3;
  double interval_s(double now_s, Activity activity) const;

  const PacerLimits limits_;
  int settle_frames_ = kSettleFrames;
  bool results_ = false, gauges_ = false, animate_ = false;
  double last_input_s_ = -1e9;
  double last_frame_s_ = -1e9;
  double frame_cpu_s_ = 0;  // smoothed cost of a frame
};

}  // namespace lab::app
