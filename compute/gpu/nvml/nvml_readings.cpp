#include "compute/gpu/nvml/nvml_readings.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "compute/core/language.h"
#include "compute/gpu/nvml/nvml_text.h"

namespace lab::nvml {
namespace {

// Converts NVML's value to the lab's representation, or propagates the reason why it is missing.
template <typename Answer, typename Convert>
auto converted(const Maybe<Answer>& answer, const Convert& convert) {
  using Result = Maybe<decltype(convert(*answer))>;
  return answer ? Result(convert(*answer)) : Result::missing(answer.reason());
}

Maybe<double> real(const Maybe<unsigned>& value, double factor = 1) {
  return converted(value, [=](unsigned number) { return number * factor; });
}

Maybe<int> whole(const Maybe<unsigned>& value) {
  return converted(value, [](unsigned number) { return static_cast<int>(number); });
}

Maybe<bool> switched_on(const Maybe<unsigned>& value) {
  return converted(value, [](unsigned number) { return number != 0; });
}

Maybe<PcieLink> pcie_link(const Maybe<unsigned>& generation, const Maybe<unsigned>& width) {
  if (generation && width) {
    return PcieLink{static_cast<int>(*generation), static_cast<int>(*width)};
  }
  return Maybe<PcieLink>::missing((generation ? width : generation).reason());
}

Maybe<std::string> text(const Session& nvml, const Name& name, auto... in) {
  std::array<char, 96> buffer{};  // NVML strings are at most 96 bytes
  const int code = nvml.call(name, in..., buffer.data(), static_cast<unsigned>(buffer.size()));
  if (code != kSuccess) return Maybe<std::string>::missing(reason_of(name.newest, code));
  buffer.back() = '\0';
  return std::string(buffer.data());
}

// The result of a function that fills two numbers.
Maybe<std::pair<unsigned, unsigned>> two_values(const Session& nvml, const Name& name, Handle gpu) {
  using Two = std::pair<unsigned, unsigned>;
  Two two;
  const int code = nvml.call(name, gpu, &two.first, &two.second);
  return code == kSuccess ? Maybe<Two>(two) : Maybe<Two>::missing(reason_of(name.newest, code));
}

// The current mode. The function's second output, the pending mode, is ignored.
Maybe<bool> mode(const Session& nvml, const Name& name, Handle gpu) {
  return converted(two_values(nvml, name, gpu), [](const auto& modes) { return modes.first != 0; });
}

// The utilisation of a video engine. The function's second output, the sampling period, is ignored.
Maybe<double> engine(const Session& nvml, const Name& name, Handle gpu) {
  return converted(two_values(nvml, name, gpu), [](const auto& two) { return two.first / 100.0; });
}

Maybe<double> max_clock(const Session& nvml, Handle gpu, unsigned clock) {
  return real(nvml.value<unsigned>("nvmlDeviceGetMaxClockInfo", gpu, clock));
}

Maybe<double> clock_now(const Session& nvml, Handle gpu, unsigned clock) {
  return real(nvml.value<unsigned>("nvmlDeviceGetClockInfo", gpu, clock));
}

void add_processors(const Session& nvml, Handle gpu, GpuFacts& facts) {
  constexpr const char* kCapability = "nvmlDeviceGetCudaComputeCapability";
  int major = 0, minor = 0;
  const int code = nvml.call(kCapability, gpu, &major, &minor);
  const bool capability = code == kSuccess;
  facts.compute_capability = capability ? Maybe<std::string>(fmt::format("{}.{}", major, minor))
                                        : Maybe<std::string>::missing(reason_of(kCapability, code));
  facts.cuda_cores = whole(nvml.value<unsigned>("nvmlDeviceGetNumGpuCores", gpu));
  // NVML reports attributes only for MIG slices; for a whole GPU the number is derived.
  const auto attributes = nvml.value<Attributes>("nvmlDeviceGetAttributes_v2", gpu);
  const int per_sm = capability ? cores_per_sm(major, minor) : 0;
  if (attributes && attributes->multiprocessors > 0) {
    facts.sms = static_cast<int>(attributes->multiprocessors);
  } else if (facts.cuda_cores && per_sm > 0) {
    facts.sms = *facts.cuda_cores / per_sm;
  } else if (!facts.cuda_cores) {
    facts.sms = Maybe<int>::missing(facts.cuda_cores.reason());
  } else {
    facts.sms = Maybe<int>::missing(tr("NVML reports the cores, but not how many an SM has"));
  }
}

Maybe<PowerLimits> power_limits(const Session& nvml, Handle gpu) {
  const auto usual = nvml.value<unsigned>("nvmlDeviceGetPowerManagementDefaultLimit", gpu);
  if (!usual) return Maybe<PowerLimits>::missing(usual.reason());
  return converted(two_values(nvml, "nvmlDeviceGetPowerManagementLimitConstraints", gpu),
                   [&](const auto& range) {
                     return PowerLimits{*usual / 1e3, range.first / 1e3, range.second / 1e3};
                   });
}

Maybe<NvLinks> nvlinks(const Session& nvml, Handle gpu) {
  constexpr const char* kState = "nvmlDeviceGetNvLinkState";
  NvLinks all;
  for (unsigned link = 0; link < kMaxNvLinks; ++link) {
    unsigned active = 0, version = 0;
    const int code = nvml.call(kState, gpu, link, &active);
    if (code != kSuccess && link == 0) {
      return Maybe<NvLinks>::missing(code == kInvalidArgument || code == kNotSupported
                                         ? tr("the GPU has no NVLink")
                                         : reason_of(kState, code));
    }
    if (code != kSuccess) break;
    ++all.links;
    if (active != 0) ++all.active;
    if (all.version.empty() &&
        nvml.call("nvmlDeviceGetNvLinkVersion", gpu, link, &version) == kSuccess) {
      all.version = nvlink_version(version);
    }
  }
  return all;
}

Maybe<PeerAccess> access(const Session& nvml, Handle gpu, Handle other, unsigned what) {
  return converted(nvml.value<unsigned>("nvmlDeviceGetP2PStatus", gpu, other, what), peer_access);
}

void set_memory(GpuTelemetry& to, unsigned long long used, unsigned long long free) {
  to.memory_used_bytes = static_cast<std::int64_t>(used);
  to.memory_free_bytes = static_cast<std::int64_t>(free);
}

// The second version reports memory reserved by the driver separately; the first includes it in
// `used`.
void read_memory(const Session& nvml, Handle gpu, GpuTelemetry& to) {
  MemoryV2 v2{};
  v2.version = version_of<MemoryV2>(2);
  if (nvml.call("nvmlDeviceGetMemoryInfo_v2", gpu, &v2) == kSuccess) {
    return set_memory(to, v2.used, v2.free);
  }
  const auto v1 = nvml.value<MemoryV1>("nvmlDeviceGetMemoryInfo", gpu);
  if (v1) return set_memory(to, v1->used, v1->free);
  to.memory_used_bytes = to.memory_free_bytes = Maybe<std::int64_t>::missing(v1.reason());
}

Maybe<double> temperature(const Session& nvml, Handle gpu) {
  const auto old = nvml.value<unsigned>("nvmlDeviceGetTemperature", gpu, kSensorGpu);
  if (old) return real(old);
  TemperatureV1 now{};
  now.version = version_of<TemperatureV1>(1);
  now.sensor = kSensorGpu;
  const int code = nvml.call("nvmlDeviceGetTemperatureV", gpu, &now);
  return code == kSuccess ? Maybe<double>(now.celsius) : real(old);
}

Maybe<int> performance_state(const Session& nvml, Handle gpu) {
  const auto state = nvml.value<unsigned>("nvmlDeviceGetPerformanceState", gpu);
  if (state && *state >= kPerformanceStateUnknown) {
    return Maybe<int>::missing(tr("the driver reports no state"));
  }
  return whole(state);
}

Maybe<EccErrors> ecc_errors(const Session& nvml, Handle gpu) {
  const auto count = [&](unsigned kind) {
    return nvml.value<unsigned long long>("nvmlDeviceGetTotalEccErrors", gpu, kind,
                                          kSinceDriverLoad);
  };
  const auto corrected = count(kErrorCorrected), uncorrected = count(kErrorUncorrected);
  if (!corrected || !uncorrected) {
    return Maybe<EccErrors>::missing((corrected ? uncorrected : corrected).reason());
  }
  return EccErrors{static_cast<std::int64_t>(*corrected), static_cast<std::int64_t>(*uncorrected)};
}

}  // namespace

std::vector<Handle> open_all(const Session& nvml) {
  std::vector<Handle> all;
  const unsigned count = nvml.value<unsigned>("nvmlDeviceGetCount_v2").value_or(0);
  for (unsigned i = 0; i < count; ++i) {
    const auto gpu = nvml.value<Handle>("nvmlDeviceGetHandleByIndex_v2", i);
    if (gpu) all.push_back(*gpu);
  }
  return all;
}

Maybe<Handle> open_at(const Session& nvml, const std::string& pci_bus_id) {
  constexpr const char* kByAddress = "nvmlDeviceGetHandleByPciBusId_v2";
  Handle gpu = nullptr;
  const int code = nvml.call(kByAddress, pci_bus_id.c_str(), &gpu);
  if (code == kSuccess) return gpu;
  return Maybe<Handle>::missing(
      code == kNotFound
          ? tr("NVML does not report this GPU to this process; check the container's limits")
          : reason_of(kByAddress, code));
}

Maybe<std::string> read_bus_id(const Session& nvml, Handle gpu) {
  return converted(nvml.value<PciInfo>("nvmlDeviceGetPciInfo_v3", gpu), [](const PciInfo& pci) {
    return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
  });
}

GpuFacts read_facts(const Session& nvml, Handle gpu) {
  GpuFacts facts;
  facts.name = text(nvml, "nvmlDeviceGetName", gpu).value_or("NVIDIA GPU");
  facts.architecture =
      named(nvml.value<unsigned>("nvmlDeviceGetArchitecture", gpu), architecture_name);
  add_processors(nvml, gpu, facts);
  facts.memory_total_bytes =
      converted(nvml.value<MemoryV1>("nvmlDeviceGetMemoryInfo", gpu),
                [](const MemoryV1& memory) { return static_cast<std::int64_t>(memory.total); });
  facts.memory_bus_bits = whole(nvml.value<unsigned>("nvmlDeviceGetMemoryBusWidth", gpu));
  facts.sm_clock_max_mhz = max_clock(nvml, gpu, kClockSm);
  facts.graphics_clock_max_mhz = max_clock(nvml, gpu, kClockGraphics);
  facts.memory_clock_max_mhz = max_clock(nvml, gpu, kClockMemory);
  facts.video_clock_max_mhz = max_clock(nvml, gpu, kClockVideo);
  facts.power_limits = power_limits(nvml, gpu);
  facts.slowdown_c =
      real(nvml.value<unsigned>("nvmlDeviceGetTemperatureThreshold", gpu, kThresholdSlowdown));
  facts.pcie_best = pcie_link(nvml.value<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration", gpu),
                              nvml.value<unsigned>("nvmlDeviceGetMaxPcieLinkWidth", gpu));
  facts.nvlinks = nvlinks(nvml, gpu);
  facts.ecc = mode(nvml, "nvmlDeviceGetEccMode", gpu);
  facts.mig = mode(nvml, "nvmlDeviceGetMigMode", gpu);
  facts.uuid = text(nvml, "nvmlDeviceGetUUID", gpu);
  facts.serial = text(nvml, "nvmlDeviceGetSerial", gpu);
  facts.vbios_version = text(nvml, "nvmlDeviceGetVbiosVersion", gpu);
  facts.driver_version = text(nvml, "nvmlSystemGetDriverVersion");
  facts.cuda_version = converted(
      nvml.value<int>({"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}),
      cuda_version);
  return facts;
}

GpuPeer read_peer(const Session& nvml, Handle gpu, Handle other, std::string other_bus_id) {
  GpuPeer peer;
  peer.pci_bus_id = std::move(other_bus_id);
  peer.read = access(nvml, gpu, other, kPeerRead);
  peer.write = access(nvml, gpu, other, kPeerWrite);
  peer.nvlink = access(nvml, gpu, other, kPeerNvLink);
  return peer;
}

void read_fast(const Session& nvml, Handle gpu, GpuTelemetry& to) {
  const auto used = nvml.value<Utilization>("nvmlDeviceGetUtilizationRates", gpu);
  to.utilisation = converted(used, [](const Utilization& u) { return u.gpu / 100.0; });
  to.memory_utilisation = converted(used, [](const Utilization& u) { return u.memory / 100.0; });
  to.sm_clock_mhz = clock_now(nvml, gpu, kClockSm);
  to.memory_clock_mhz = clock_now(nvml, gpu, kClockMemory);
  read_memory(nvml, gpu, to);
  to.power_w = real(nvml.value<unsigned>("nvmlDeviceGetPowerUsage", gpu), 1e-3);
  to.temperature_c = temperature(nvml, gpu);
}

void read_slow(const Session& nvml, Handle gpu, GpuTelemetry& to) {
  to.graphics_clock_mhz = clock_now(nvml, gpu, kClockGraphics);
  to.video_clock_mhz = clock_now(nvml, gpu, kClockVideo);
  to.encoder_utilisation = engine(nvml, "nvmlDeviceGetEncoderUtilization", gpu);
  to.decoder_utilisation = engine(nvml, "nvmlDeviceGetDecoderUtilization", gpu);
  to.power_limit_w = real(nvml.value<unsigned>("nvmlDeviceGetEnforcedPowerLimit", gpu), 1e-3);
  to.fan = real(nvml.value<unsigned>("nvmlDeviceGetFanSpeed", gpu), 1e-2);
  to.performance_state = performance_state(nvml, gpu);
  to.clock_limits = converted(
      nvml.value<unsigned long long>(
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
          gpu),
      clock_limits);
  to.pcie = pcie_link(nvml.value<unsigned>("nvmlDeviceGetCurrPcieLinkGeneration", gpu),
                      nvml.value<unsigned>("nvmlDeviceGetCurrPcieLinkWidth", gpu));
  to.persistence_mode = switched_on(nvml.value<unsigned>("nvmlDeviceGetPersistenceMode", gpu));
  to.compute_mode = named(nvml.value<unsigned>("nvmlDeviceGetComputeMode", gpu), compute_mode_name);
  to.display_active = switched_on(nvml.value<unsigned>("nvmlDeviceGetDisplayActive", gpu));
  to.ecc_errors = ecc_errors(nvml, gpu);
  to.processes = read_processes(nvml, gpu);
}

void read_throughput(const Session& nvml, Handle gpu, GpuTelemetry& to) {
  constexpr double kKilobyte = 1e3;
  const auto traffic = [&](unsigned direction) {
    return real(nvml.value<unsigned>("nvmlDeviceGetPcieThroughput", gpu, direction), kKilobyte);
  };
  to.pcie_received_bytes_per_s = traffic(kPcieReceived);
  to.pcie_sent_bytes_per_s = traffic(kPcieSent);
}

}  // namespace lab::nvml
