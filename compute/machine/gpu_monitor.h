#pragma once
// Every NVIDIA GPU of the machine: what it is and what it does, read through NVML, whether the lab
// can compute on it or not.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"

namespace lab {

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
