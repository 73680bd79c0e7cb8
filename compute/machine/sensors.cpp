#include "compute/machine/sensors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "compute/core/language.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

// Names under which kernels expose the CPU's own sensor.
constexpr std::array<std::string_view, 5> kCpuSensors = {"coretemp", "k10temp", "zenpower",
                                                         "cpu_thermal", "soc_thermal"};
constexpr std::array<std::string_view, 4> kCpuZones = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal",
                                                       "acpitz"};

template <typename Names>
bool among(const Names& names, const std::optional<std::string>& name) {
  return name && std::find(names.begin(), names.end(), *name) != names.end();
}

}  // namespace

std::map<int, CoreTicks> read_core_ticks(const std::string& root) {
  std::map<int, CoreTicks> cores;
  std::istringstream lines(read_text(root + "/proc/stat").value_or(""));
  for (std::string line; std::getline(lines, line) && line.rfind("cpu", 0) == 0;) {
    if (line.size() < 4 || line[3] == ' ') continue;  // skips the sum over all cores
    char* at = nullptr;
    const int core = static_cast<int>(std::strtol(line.c_str() + 3, &at, 10));
    // user nice system idle iowait irq softirq steal; user already includes guest time
    std::array<std::int64_t, 8> ticks{};
    for (std::int64_t& t : ticks) t = std::strtoll(at, &at, 10);
    CoreTicks& c = cores[core];
    for (const std::int64_t t : ticks) c.total += t;
    c.busy = c.total - ticks[3] - ticks[4];
    c.steal = ticks[7];
  }
  return cores;
}

double process_cpu_s() {
  timespec t{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return 0;
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::map<int, double> read_clocks_mhz(const std::string& root, const std::vector<int>& cores) {
  std::map<int, double> clocks;
  for (const int core : cores) {
    const auto khz = read_number(
        fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, core));
    if (!khz) break;  // either all cores have it or none
    clocks[core] = static_cast<double>(*khz) / 1000;
  }
  if (!clocks.empty()) return clocks;
  const std::string text = read_text(root + "/proc/cpuinfo").value_or("");
  const auto numbers = find_fields(text, "processor");
  const auto values = find_fields(text, "cpu MHz");
  if (numbers.size() != values.size()) return clocks;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double mhz = std::strtod(values[i].c_str(), nullptr);
    if (mhz > 0) clocks[std::atoi(numbers[i].c_str())] = mhz;  // NOLINT(cert-err34-c)
  }
  return clocks;
}

bool is_virtual_machine(const std::string& root) {
  const std::string cpuinfo = read_text(root + "/proc/cpuinfo").value_or("");
  const std::string flags = ' ' + find_field(cpuinfo, "flags").value_or("") + ' ';
  return flags.find(" hypervisor ") != std::string::npos;
}

std::vector<std::string> find_cpu_temperature_files(const std::string& root) {
  std::vector<std::string> files;
  const std::string monitors = root + "/sys/class/hwmon/";
  for (const std::string& name : list_directory(monitors)) {
    const std::string file = monitors + name + "/temp1_input";
    if (among(kCpuSensors, read_text(monitors + name + "/name")) && read_number(file)) {
      files.push_back(file);
    }
  }
  if (!files.empty()) return files;
  const std::string zones = root + "/sys/class/thermal/";
  for (const std::string& name : list_directory(zones)) {
    const std::string file = zones + name + "/temp";
    if (among(kCpuZones, read_text(zones + name + "/type")) && read_number(file)) {
      files.push_back(file);
    }
  }
  return files;
}

Maybe<double> read_temperature_c(const std::vector<std::string>& files) {
  if (files.empty()) {
    return Maybe<double>::missing(
        tr("the kernel exposes no processor temperature sensor (usual in virtual machines)"));
  }
  std::optional<std::int64_t> hottest;
  for (const std::string& file : files) {
    if (const auto t = read_number(file)) hottest = std::max(hottest.value_or(*t), *t);
  }
  if (!hottest) return Maybe<double>::missing(tr("the temperature sensor could not be read"));
  return static_cast<double>(*hottest) / 1000;
}

std::int64_t read_resident_bytes(const std::string& root) {
  const std::string text = read_text(root + "/proc/self/statm").value_or("");
  const auto blank = text.find(' ');
  if (blank == std::string::npos) return 0;
  return std::strtoll(text.c_str() + blank, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace lab
