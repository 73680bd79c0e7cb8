#pragma once
// Live readings: utilisation, clocks, temperature, memory. A reading costs well under a
// millisecond.
#include <memory>
#include <string>

#include "compute/core/events/event.h"
#include "compute/machine/gpu_monitor.h"
#include "compute/machine/machine.h"

namespace lab {

class TelemetryReader {
 public:
  // `machine` must outlive the reader. `root` replaces "/" in tests ("<root>/proc/stat", ...).
  explicit TelemetryReader(Machine& machine, std::string root = "/");
  TelemetryReader(Machine& machine, GpuMonitorOptions options);  // `options.root` as above
  ~TelemetryReader();

  // Rates are since the previous call; the first call has no rates ("not read yet"). `t_s` is the
  // time on the lab's axis that the readings are stamped with. One thread at a time.
  Telemetry read(double t_s = 0);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
