#pragma once
// Live readings: utilisation, clocks, temperature, memory. A reading costs well under a
// millisecond.
#include <memory>

#include "compute/device/machine.h"
#include "compute/types/event.h"

namespace lab {

class TelemetryReader {
 public:
  // `machine` must outlive the reader. `root` replaces "/" in tests ("<root>/proc/stat", ...).
  explicit TelemetryReader(Machine& machine, std::string root = "/");
  ~TelemetryReader();

  // Rates are since the previous call; the first call has no rates ("not read yet").
  Telemetry read();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
