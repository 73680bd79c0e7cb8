#pragma once
// Monitors all NVIDIA GPUs of the machine through NVML, whether the lab can compute on them or not.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"

namespace lab {

// Cost of polls, in seconds.
struct PollCost {
  double cpu_s = 0;      // CPU time
  double elapsed_s = 0;  // elapsed time: a driver that waits also delays its other clients
};

class PollBudget {
 public:
  // Limits polls to one per `interval_s`, to `share` of one core's CPU time, and to kWaitingShare
  // of the elapsed time; the last limit delays a poll by at most kLongestPause_s.
  PollBudget(double interval_s, double share) : interval_s_(interval_s), share_(share) {}
  static constexpr double kWaitingShare = 0.05;
  static constexpr double kLongestPause_s = 30;

  bool due(double now_s) const { return now_s >= next_s_; }
  // Records the cost of a poll that began at `now_s`.
  void spent(double now_s, const PollCost& cost) {
    const double pause_s = std::min(cost.elapsed_s / kWaitingShare, kLongestPause_s);
    next_s_ = now_s + std::max({interval_s_, cost.cpu_s / share_, pause_s});
  }

 private:
  double interval_s_, share_;
  double next_s_ = -1e300;
};

struct GpuMonitorOptions {
  std::string root = "/";                     // replaces "/" in tests
  std::string library = "libnvidia-ml.so.1";  // NVML, as a name or a path
  // Replaceable in tests: the clock of the intervals, and what the calling thread has spent so far.
  std::function<double()> now_s = nullptr;
  std::function<PollCost()> spent = nullptr;
};

class GpuMonitor {
 public:
  // Performs no reads.
  explicit GpuMonitor(GpuMonitorOptions options = {});
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  // Returns one entry per GPU, identified by PCI address. `t_s` of an entry is the time at which it
  // was actually read: a call soon after another repeats its values, so that polling takes less
  // than 0.5 % of a core and, where NVML waits for less than 1.5 s, less than a sixth of the time.
  // Sleeping GPUs are not touched, and NVML is not started while all of them sleep. Never throws;
  // unreadable fields hold the reason. Not thread-safe.
  std::vector<GpuTelemetry> read(double t_s);

  // Returns the facts of the same GPUs, as known at the last read().
  const std::vector<GpuFacts>& facts() const;
  // Incremented when facts() change: a GPU woke or was found.
  int facts_version() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
