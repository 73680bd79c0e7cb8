#pragma once
// How much of the cores' time went to other programs while a job ran.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/machine/sensors.h"

namespace lab {

class CoreTimes {
 public:
  // Counts from now on. `hardware_threads`: OS numbers. `root` replaces "/" in tests.
  explicit CoreTimes(std::vector<int> hardware_threads, std::string root = "");

  // The share, 0 to 1, of these hardware threads' time that went to other programs or, in a virtual
  // machine, to the host: the busy time in /proc/stat less the CPU time of this process. Nothing if
  // /proc/stat cannot be read or has too few ticks of 10 ms for a share. Where this process also
  // computes elsewhere, the share is a lower bound.
  std::optional<double> others() const;

 private:
  const std::vector<int> hardware_threads_;
  const std::string root_;
  const std::map<int, CoreTicks> begin_;
  const double own_begin_s_;
};

}  // namespace lab
