#pragma once
// Every NVIDIA GPU of the machine: what it is and what it does, read through NVML, whether the lab
// can compute on it or not.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"

namespace lab {

// What one look took, in seconds.
struct PollCost {
  double cpu_s = 0;      // processor time
  double elapsed_s = 0;  // on the clock: a driver that waits also keeps others waiting
};

class PollBudget {
 public:
  // At most every `interval_s`, never for more than `share` of one core, nor for more than
  // kWaitingShare of the time; waiting alone puts a look off by kLongestPause_s at most.
  PollBudget(double interval_s, double share) : interval_s_(interval_s), share_(share) {}
  static constexpr double kWaitingShare = 0.05;
  static constexpr double kLongestPause_s = 30;

  bool due(double now_s) const { return now_s >= next_s_; }
  // Of a look begun at `now_s`.
  void spent(double now_s, const PollCost& cost) {
    const double pause_s = std::min(cost.elapsed_s / kWaitingShare, kLongestPause_s);
    next_s_ = now_s + std::max({interval_s_, cost.cpu_s / share_, pause_s});
  }

 private:
  double interval_s_, share_;
  double next_s_ = -1e300;
};

struct GpuMonitorOptions {
  std::string root = "/";                     // stands for "/" in tests
  std::string library = "libnvidia-ml.so.1";  // NVML, a name or a path
  std::function<double()> now_s = nullptr;    // another clock for the intervals, in tests
};

class GpuMonitor {
 public:
  // Reads nothing yet.
  explicit GpuMonitor(GpuMonitorOptions options = {});
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  // One entry a GPU, by PCI address, each stamped with the `t_s` at which it was really read: a
  // call soon after another repeats its values, so that looking stays under 0.5 % of a core and,
  // where NVML waits for less than 1.5 s, under a sixth of the time. A GPU that is asleep is not
  // touched, and NVML not even started while all of them are. Never throws; what cannot be read
  // says why. One thread at a time.
  std::vector<GpuTelemetry> read(double t_s);

  // Facts of the same GPUs, as far as they are known since the last read().
  const std::vector<GpuFacts>& facts() const;
  // Grows when facts() change: a GPU woke, or was seen for the first time.
  int facts_version() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
