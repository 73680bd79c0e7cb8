#include "compute/gpu/nvml/nvml_readings.h"

#include "compute/gpu/nvml/nvml_processes.h"
#include "compute/gpu/nvml/nvml_values.h"
#include "compute/gpu/nvml/nvml_words.h"

namespace lab::nvml {
namespace {

void set_memory(GpuTelemetry& to, unsigned long long total, unsigned long long used,
                unsigned long long free) {
  to.memory_total_bytes = static_cast<std::int64_t>(total);
  to.memory_used_bytes = static_cast<std::int64_t>(used);
  to.memory_free_bytes = static_cast<std::int64_t>(free);
}

// The second version keeps apart what the driver holds for itself, the first counts it as used.
void read_memory(const Functions& nvml, Handle gpu, GpuTelemetry& to) {
  MemoryV2 v2{};
  v2.version = version_of<MemoryV2>(2);
  if (nvml.memory_v2(gpu, &v2) == kSuccess) {
    set_memory(to, v2.total, v2.used, v2.free);
    return;
  }
  const auto v1 = value_of<MemoryV1>(nvml.memory_v1, gpu);
  if (v1) {
    set_memory(to, v1->total, v1->used, v1->free);
    return;
  }
  const auto missing = Maybe<std::int64_t>::missing(v1.reason());
  to.memory_total_bytes = to.memory_used_bytes = to.memory_free_bytes = missing;
}

Maybe<double> read_temperature(const Functions& nvml, Handle gpu) {
  const auto old = value_of<unsigned>(nvml.temperature, gpu, kSensorGpu);
  if (old) return real(old);
  TemperatureV1 now{};
  now.version = version_of<TemperatureV1>(1);
  now.sensor = kSensorGpu;
  if (nvml.temperature_v(gpu, &now) == kSuccess) return static_cast<double>(now.celsius);
  return real(old);
}

Maybe<int> read_performance_state(const Functions& nvml, Handle gpu) {
  const auto state = value_of<unsigned>(nvml.performance_state, gpu);
  if (!state) return Maybe<int>::missing(state.reason());
  if (*state >= kPerformanceStateUnknown) return Maybe<int>::missing("the driver does not know");
  return static_cast<int>(*state);
}

Maybe<EccErrors> read_ecc_errors(const Functions& nvml, Handle gpu) {
  const auto count = [&](unsigned kind) {
    return value_of<unsigned long long>(nvml.ecc_errors, gpu, kind, kSinceDriverLoad);
  };
  const auto corrected = count(kErrorCorrected), uncorrected = count(kErrorUncorrected);
  if (!corrected || !uncorrected) {
    return Maybe<EccErrors>::missing((corrected ? uncorrected : corrected).reason());
  }
  return EccErrors{static_cast<std::int64_t>(*corrected), static_cast<std::int64_t>(*uncorrected)};
}

// Video engines tell their load and the length of the sample, in this order.
template <typename F>
Maybe<double> read_engine(const F& function, Handle gpu) {
  unsigned percent = 0, sample_us = 0;
  const int code = function(gpu, &percent, &sample_us);
  if (code != kSuccess) return Maybe<double>::missing(function.reason(code));
  return percent / 100.0;
}

Maybe<std::vector<std::string>> read_clock_limits(const Functions& nvml, Handle gpu) {
  const auto bits = value_of<unsigned long long>(nvml.clock_reasons, gpu);
  if (!bits) return Maybe<std::vector<std::string>>::missing(bits.reason());
  return clock_limits(*bits);
}

}  // namespace

void read_fast(const Functions& nvml, Handle gpu, GpuTelemetry& to) {
  const auto used = value_of<Utilization>(nvml.utilization, gpu);
  to.utilisation = used ? Maybe<double>(used->gpu / 100.0) : Maybe<double>::missing(used.reason());
  to.memory_utilisation =
      used ? Maybe<double>(used->memory / 100.0) : Maybe<double>::missing(used.reason());
  to.sm_clock_mhz = real(value_of<unsigned>(nvml.clock, gpu, kClockSm));
  to.memory_clock_mhz = real(value_of<unsigned>(nvml.clock, gpu, kClockMemory));
  read_memory(nvml, gpu, to);
  to.power_w = real(value_of<unsigned>(nvml.power, gpu), 1e-3);
  to.temperature_c = read_temperature(nvml, gpu);
}

void read_slow(const Functions& nvml, Handle gpu, GpuTelemetry& to) {
  to.graphics_clock_mhz = real(value_of<unsigned>(nvml.clock, gpu, kClockGraphics));
  to.video_clock_mhz = real(value_of<unsigned>(nvml.clock, gpu, kClockVideo));
  to.encoder_utilisation = read_engine(nvml.encoder, gpu);
  to.decoder_utilisation = read_engine(nvml.decoder, gpu);
  to.power_limit_w = real(value_of<unsigned>(nvml.power_limit, gpu), 1e-3);
  to.fan = real(value_of<unsigned>(nvml.fan, gpu), 1e-2);
  to.performance_state = read_performance_state(nvml, gpu);
  to.clock_limits = read_clock_limits(nvml, gpu);
  to.pcie = pcie_link(value_of<unsigned>(nvml.pcie_generation, gpu),
                      value_of<unsigned>(nvml.pcie_width, gpu));
  to.persistence_mode = switched_on(value_of<unsigned>(nvml.persistence_mode, gpu));
  to.compute_mode = named(value_of<unsigned>(nvml.compute_mode, gpu), compute_mode_name);
  to.display_active = switched_on(value_of<unsigned>(nvml.display_active, gpu));
  to.ecc_errors = read_ecc_errors(nvml, gpu);
  to.processes = read_processes(nvml, gpu);
}

void read_throughput(const Functions& nvml, Handle gpu, GpuTelemetry& to) {
  constexpr double kKilobyte = 1e3;
  const auto ask = [&](unsigned direction) {
    return real(value_of<unsigned>(nvml.pcie_throughput, gpu, direction), kKilobyte);
  };
  to.pcie_received_bytes_per_s = ask(kPcieReceived);
  to.pcie_sent_bytes_per_s = ask(kPcieSent);
}

}  // namespace lab::nvml
