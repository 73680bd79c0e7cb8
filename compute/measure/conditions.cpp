#include "compute/measure/conditions.h"

#include <ctime>

#include "compute/machine/sensors.h"

namespace lab {

Conditions current_conditions(int core, const std::string& root) {
  Conditions now;
  now.unix_time_s = static_cast<std::int64_t>(std::time(nullptr));
  const auto clocks = read_clocks_mhz(root, {core});
  const auto clock = clocks.find(core);
  now.clock_mhz = clock != clocks.end()
                      ? Maybe<double>(clock->second)
                      : Maybe<double>::missing("the kernel shows no clock for this core");
  return now;
}

Conditions conditions_of_gpu() {
  Conditions now;
  now.unix_time_s = static_cast<std::int64_t>(std::time(nullptr));
  now.clock_mhz = Maybe<double>::missing("the GPU's clocks stand on the Devices page");
  return now;
}

}  // namespace lab
