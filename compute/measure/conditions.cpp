#include "compute/measure/conditions.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

namespace lab {
namespace {

// "cpu MHz" of the processor with that number; 0 when there is none.
double cpuinfo_mhz(int core, const std::string& file) {
  std::ifstream in(file);
  int processor = -1;
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const char* value = line.c_str() + colon + 1;
    if (line.starts_with("processor")) processor = std::atoi(value);
    if (line.starts_with("cpu MHz") && processor == core) return std::strtod(value, nullptr);
  }
  return 0;
}

Maybe<double> clock_mhz(int core, const std::string& root) {
  std::ifstream sys(
      fmt::format("{}sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, core));
  if (double khz = 0; sys >> khz) return khz / 1e3;
  if (const double mhz = cpuinfo_mhz(core, root + "proc/cpuinfo"); mhz > 0) return mhz;
  return Maybe<double>::missing("the kernel shows no clock for this core");
}

}  // namespace

Conditions current_conditions(int core, const std::string& root) {
  return {static_cast<std::int64_t>(std::time(nullptr)), clock_mhz(core, root)};
}

}  // namespace lab
