#include "compute/gpu/nvml/nvml_facts.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "compute/gpu/nvml/nvml_values.h"
#include "compute/gpu/nvml/nvml_words.h"

namespace lab::nvml {
namespace {

// The mode in force; the one after a restart, which NVML tells too, is not asked for.
template <typename F>
Maybe<bool> mode(const F& function, Handle gpu) {
  unsigned current = 0, pending = 0;
  const int code = function(gpu, &current, &pending);
  if (code != kSuccess) return Maybe<bool>::missing(function.reason(code));
  return current != 0;
}

template <typename F, typename... In>
Maybe<std::string> text(const F& function, In... in) {
  std::array<char, 96> buffer{};  // NVML's names have at most 96 bytes
  const int code = function(in..., buffer.data(), static_cast<unsigned>(buffer.size()));
  if (code != kSuccess) return Maybe<std::string>::missing(function.reason(code));
  buffer.back() = '\0';
  return std::string(buffer.data());
}

void add_processors(const Functions& nvml, Handle gpu, GpuFacts& facts) {
  int major = 0, minor = 0;
  const int code = nvml.compute_capability(gpu, &major, &minor);
  const bool capability = code == kSuccess;
  facts.compute_capability =
      capability ? Maybe<std::string>(fmt::format("{}.{}", major, minor))
                 : Maybe<std::string>::missing(nvml.compute_capability.reason(code));
  facts.cuda_cores = whole(value_of<unsigned>(nvml.cores, gpu));
  // The attributes are told of slices of a GPU (MIG) only, so for a whole one they are derived.
  const auto attributes = value_of<Attributes>(nvml.attributes, gpu);
  const int per_sm = capability ? cores_per_sm(major, minor) : 0;
  if (attributes && attributes->multiprocessors > 0) {
    facts.sms = static_cast<int>(attributes->multiprocessors);
  } else if (facts.cuda_cores && per_sm > 0) {
    facts.sms = *facts.cuda_cores / per_sm;
  } else if (!facts.cuda_cores) {
    facts.sms = Maybe<int>::missing(facts.cuda_cores.reason());
  } else {
    facts.sms = Maybe<int>::missing("NVML tells the cores, but how many make one is not known");
  }
}

Maybe<PowerLimits> power_limits(const Functions& nvml, Handle gpu) {
  const auto usual = value_of<unsigned>(nvml.default_power_limit, gpu);
  if (!usual) return Maybe<PowerLimits>::missing(usual.reason());
  unsigned least = 0, most = 0;
  const int code = nvml.power_limit_range(gpu, &least, &most);
  if (code != kSuccess) return Maybe<PowerLimits>::missing(nvml.power_limit_range.reason(code));
  return PowerLimits{*usual / 1e3, least / 1e3, most / 1e3};
}

Maybe<NvLinks> nvlinks(const Functions& nvml, Handle gpu) {
  NvLinks all;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    unsigned active = 0, version = 0;
    const int code = nvml.nvlink_state(gpu, link, &active);
    if (code != kSuccess && link == 0) {
      return Maybe<NvLinks>::missing(code == kInvalidArgument || code == kNotSupported
                                         ? "the GPU has no NVLink"
                                         : nvml.nvlink_state.reason(code));
    }
    if (code != kSuccess) break;
    ++all.links;
    if (active != 0) ++all.active;
    if (all.version.empty() && nvml.nvlink_version(gpu, link, &version) == kSuccess) {
      all.version = nvlink_version(version);
    }
  }
  return all;
}

Maybe<PeerAccess> access(const Functions& nvml, Handle gpu, Handle other, unsigned what) {
  const auto status = value_of<unsigned>(nvml.p2p_status, gpu, other, what);
  if (!status) return Maybe<PeerAccess>::missing(status.reason());
  return peer_access(*status);
}

}  // namespace

Maybe<std::string> read_bus_id(const Functions& nvml, Handle gpu) {
  const auto pci = value_of<PciInfo>(nvml.pci_info, gpu);
  if (!pci) return Maybe<std::string>::missing(pci.reason());
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci->domain, pci->bus, pci->device);
}

GpuFacts read_facts(const Functions& nvml, Handle gpu) {
  GpuFacts facts;
  facts.name = text(nvml.name, gpu).value_or("NVIDIA GPU");
  facts.architecture = named(value_of<unsigned>(nvml.architecture, gpu), architecture_name);
  add_processors(nvml, gpu, facts);
  const auto memory = value_of<MemoryV1>(nvml.memory_v1, gpu);
  facts.memory_total_bytes = memory ? Maybe<std::int64_t>(static_cast<std::int64_t>(memory->total))
                                    : Maybe<std::int64_t>::missing(memory.reason());
  facts.memory_bus_bits = whole(value_of<unsigned>(nvml.memory_bus_width, gpu));
  facts.sm_clock_max_mhz = real(value_of<unsigned>(nvml.max_clock, gpu, kClockSm));
  facts.graphics_clock_max_mhz = real(value_of<unsigned>(nvml.max_clock, gpu, kClockGraphics));
  facts.memory_clock_max_mhz = real(value_of<unsigned>(nvml.max_clock, gpu, kClockMemory));
  facts.video_clock_max_mhz = real(value_of<unsigned>(nvml.max_clock, gpu, kClockVideo));
  facts.power_limits = power_limits(nvml, gpu);
  facts.slowdown_c = real(value_of<unsigned>(nvml.temperature_threshold, gpu, kThresholdSlowdown));
  facts.pcie_best = pcie_link(value_of<unsigned>(nvml.max_pcie_generation, gpu),
                              value_of<unsigned>(nvml.max_pcie_width, gpu));
  facts.nvlinks = nvlinks(nvml, gpu);
  facts.ecc = mode(nvml.ecc_mode, gpu);
  facts.mig = mode(nvml.mig_mode, gpu);
  facts.uuid = text(nvml.uuid, gpu);
  facts.serial = text(nvml.serial, gpu);
  facts.vbios_version = text(nvml.vbios_version, gpu);
  facts.driver_version = text(nvml.driver_version);
  const auto cuda = value_of<int>(nvml.cuda_version);
  facts.cuda_version =
      cuda ? Maybe<std::string>(cuda_version(*cuda)) : Maybe<std::string>::missing(cuda.reason());
  return facts;
}

GpuPeer read_peer(const Functions& nvml, Handle gpu, Handle other, std::string other_bus_id) {
  GpuPeer peer;
  peer.pci_bus_id = std::move(other_bus_id);
  peer.read = access(nvml, gpu, other, kPeerRead);
  peer.write = access(nvml, gpu, other, kPeerWrite);
  peer.nvlink = access(nvml, gpu, other, kPeerNvLink);
  return peer;
}

}  // namespace lab::nvml
