#pragma once
// Decides when to draw: immediately on user input, rarely for changing gauges, never while hidden.
// Pure arithmetic on times; uses no clock and no window.
#include <limits>

namespace lab::app {

enum class Activity {
  Idle,    // no job
  Busy,    // a job that tolerates some drawing: frames take a small share of a core
  Timing,  // a job that measures time: at most five frames per second
};

struct PacerLimits {
  double timing_interval_s = 0.2;
  double busy_interval_s = 1.0 / 30;  // the least between frames with results
  double longest_busy_s = 0.5;        // upper bound, however expensive a frame is
  double busy_cpu_share = 0.01;       // of one core, for the window's thread during a busy job
  double idle_interval_s = 1;         // between frames that only update gauges
  double longest_idle_s = 5;          // upper bound, however expensive a frame is
  double idle_cpu_share = 0.006;      // of one core, for frames that only update gauges
  double animation_after_input_s = 2;
};

class FramePacer {
 public:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  explicit FramePacer(PacerLimits limits) : limits_(limits) {}

  // There was user input or the window contents were lost. ImGui needs a few frames to settle.
  void request_redraw(double now_s);
  void results_changed() { results_ = true; }  // a job has news
  void gauges_changed() { gauges_ = true; }    // telemetry has news
  void animate() { animate_ = true; }          // a widget is moving
  // CPU time of a frame: of the window's thread and, where the CPU renders, of all threads.
  void frame_drawn(double now_s, double thread_cpu_s, double cpu_s);

  // Returns the seconds until the next frame is due: 0 means now, kForever that none is pending.
  double wait_s(double now_s, Activity activity, bool hidden) const;

 private:
  static constexpr int kSettleFrames = 3;
  double interval_s(double now_s, Activity activity) const;
  double busy_interval_s() const;

  const PacerLimits limits_;
  int settle_frames_ = kSettleFrames;
  bool results_ = false, gauges_ = false, animate_ = false;
  double last_input_s_ = -1e9;
  double last_frame_s_ = -1e9;
  double frame_thread_cpu_s_ = 0, frame_cpu_s_ = 0;  // smoothed cost of a frame
};

}  // namespace lab::app
