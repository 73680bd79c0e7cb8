#include "compute/nvidia/nvml_readings.h"

#include <algorithm>
#include <utility>

#include "compute/nvidia/nvml_values.h"
#include "compute/nvidia/nvml_words.h"

namespace lab::nvml {
namespace {

void set_memory(GpuTelemetry& to, unsigned long long total, unsigned long long used,
                unsigned long long free) {
  to.memory_total_bytes = static_cast<std::int64_t>(total);
  to.memory_used_bytes = static_cast<std::int64_t>(used);
  to.memory_free_bytes = static_cast<std::int64_t>(free);
}

// The second version keeps apart what the driver holds for itself, the first counts it as used.
void read_memory(const Functions& nvml, Handle card, GpuTelemetry& to) {
  MemoryV2 v2{};
  v2.version = version_of<MemoryV2>(2);
  if (nvml.memory_v2(card, &v2) == kSuccess) {
    set_memory(to, v2.total, v2.used, v2.free);
    return;
  }
  const auto v1 = value_of<MemoryV1>(nvml.memory_v1, card);
  if (v1) {
    set_memory(to, v1->total, v1->used, v1->free);
    return;
  }
  const auto missing = Maybe<std::int64_t>::missing(v1.reason());
  to.memory_total_bytes = to.memory_used_bytes = to.memory_free_bytes = missing;
}

Maybe<double> read_temperature(const Functions& nvml, Handle card) {
  const auto old = value_of<unsigned>(nvml.temperature, card, kSensorGpu);
  if (old) return real(old);
  TemperatureV1 now{};
  now.version = version_of<TemperatureV1>(1);
  now.sensor = kSensorGpu;
  if (nvml.temperature_v(card, &now) == kSuccess) return static_cast<double>(now.celsius);
  return real(old);
}

Maybe<int> read_performance_state(const Functions& nvml, Handle card) {
  const auto state = value_of<unsigned>(nvml.performance_state, card);
  if (!state) return Maybe<int>::missing(state.reason());
  if (*state >= kPerformanceStateUnknown) return Maybe<int>::missing("the driver does not know");
  return static_cast<int>(*state);
}

Maybe<EccErrors> read_ecc_errors(const Functions& nvml, Handle card) {
  const auto count = [&](unsigned kind) {
    return value_of<unsigned long long>(nvml.ecc_errors, card, kind, kSinceDriverLoad);
  };
  const auto corrected = count(kErrorCorrected), uncorrected = count(kErrorUncorrected);
  if (!corrected || !uncorrected) {
    return Maybe<EccErrors>::missing((corrected ? uncorrected : corrected).reason());
  }
  return EccErrors{static_cast<std::int64_t>(*corrected), static_cast<std::int64_t>(*uncorrected)};
}

// The list may grow between the call that tells its length and the one that fills it, so there is
// room for some more, and a few tries.
template <typename Process, typename F>
Maybe<std::vector<GpuProcess>> list_processes(const F& function, Handle card) {
  constexpr unsigned kRoomForMore = 8;
  constexpr int kTries = 4;
  using Result = Maybe<std::vector<GpuProcess>>;
  std::vector<Process> buffer;
  int code = kInsufficientSize;
  unsigned count = 0;
  for (int i = 0; i < kTries && code == kInsufficientSize; ++i) {
    buffer.resize(count + kRoomForMore);
    count = static_cast<unsigned>(buffer.size());
    code = function(card, &count, buffer.data());
  }
  if (code == kInsufficientSize) {
    return Result::missing("the list of processes grows faster than it can be read");
  }
  if (code != kSuccess) return Result::missing(function.reason(code));
  std::vector<GpuProcess> processes;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, buffer.size()); ++i) {
    GpuProcess process;
    process.pid = buffer[i].pid;
    process.memory_bytes =
        buffer[i].used_memory == kValueNotAvailable
            ? Maybe<std::int64_t>::missing("the driver does not tell it of this process")
            : Maybe<std::int64_t>(static_cast<std::int64_t>(buffer[i].used_memory));
    processes.push_back(std::move(process));
  }
  return processes;
}

Maybe<std::vector<GpuProcess>> read_processes(const Functions& nvml, Handle card) {
  auto compute = nvml.compute_processes
                     ? list_processes<ProcessV2>(nvml.compute_processes, card)
                     : list_processes<ProcessV1>(nvml.compute_processes_v1, card);
  const auto graphics = nvml.graphics_processes
                            ? list_processes<ProcessV2>(nvml.graphics_processes, card)
                            : list_processes<ProcessV1>(nvml.graphics_processes_v1, card);
  if (!compute || !graphics) return compute;
  std::vector<GpuProcess> all = *compute;
  for (const GpuProcess& one : *graphics) {
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const auto& p) { return p.pid == one.pid; });
    if (!known) all.push_back(one);
  }
  std::stable_sort(all.begin(), all.end(), [](const GpuProcess& a, const GpuProcess& b) {
    return a.memory_bytes.value_or(-1) > b.memory_bytes.value_or(-1);
  });
  return all;
}

Maybe<std::vector<std::string>> read_clock_limits(const Functions& nvml, Handle card) {
  const auto bits = value_of<unsigned long long>(nvml.clock_reasons, card);
  if (!bits) return Maybe<std::vector<std::string>>::missing(bits.reason());
  return clock_limits(*bits);
}

}  // namespace

void read_fast(const Functions& nvml, Handle card, GpuTelemetry& to) {
  const auto used = value_of<Utilization>(nvml.utilization, card);
  to.utilisation = used ? Maybe<double>(used->gpu / 100.0) : Maybe<double>::missing(used.reason());
  to.memory_utilisation =
      used ? Maybe<double>(used->memory / 100.0) : Maybe<double>::missing(used.reason());
  to.sm_clock_mhz = real(value_of<unsigned>(nvml.clock, card, kClockSm));
  to.memory_clock_mhz = real(value_of<unsigned>(nvml.clock, card, kClockMemory));
  read_memory(nvml, card, to);
  to.power_w = real(value_of<unsigned>(nvml.power, card), 1e-3);
  to.temperature_c = read_temperature(nvml, card);
}

void read_slow(const Functions& nvml, Handle card, GpuTelemetry& to) {
  to.power_limit_w = real(value_of<unsigned>(nvml.power_limit, card), 1e-3);
  to.fan = real(value_of<unsigned>(nvml.fan, card), 1e-2);
  to.performance_state = read_performance_state(nvml, card);
  to.clock_limits = read_clock_limits(nvml, card);
  to.pcie = pcie_link(value_of<unsigned>(nvml.pcie_generation, card),
                      value_of<unsigned>(nvml.pcie_width, card));
  to.ecc_errors = read_ecc_errors(nvml, card);
  to.processes = read_processes(nvml, card);
}

}  // namespace lab::nvml
