#include "compute/machine/cuda_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"

namespace lab {
namespace {

template <typename T>
void fill_in(Maybe<T>& field, T value) {
  if (!field) field = std::move(value);
}

Maybe<PeerAccess> ask_access(const GpuDevice& from, const GpuDevice& to) {
  try {
    return from.can_access(to) ? PeerAccess{true, ""}
                               : PeerAccess{false, "the CUDA runtime says that it cannot"};
  } catch (const Error& error) {
    return Maybe<PeerAccess>::missing(error.what());
  }
}

void fill_in_peers(GpuFacts& to, const GpuDevice& gpu, const std::vector<GpuDevice*>& all) {
  for (const GpuDevice* other : all) {
    const std::string& address = other->facts().pci_bus_id;
    const bool known = std::any_of(to.peers.begin(), to.peers.end(),
                                   [&](const GpuPeer& p) { return p.pci_bus_id == address; });
    if (known || other == &gpu) continue;
    GpuPeer& peer = to.peers.emplace_back();
    peer.pci_bus_id = address;
    peer.read = peer.write = ask_access(gpu, *other);
    peer.nvlink =
        Maybe<PeerAccess>::missing("the CUDA runtime does not tell it, and NVML was silent");
  }
}

void complete(GpuFacts& to, const GpuDevice& gpu, GpuBackend& backend) {
  const GpuProperties& told = gpu.facts();
  fill_in(to.compute_capability, fmt::format("{}.{}", told.compute_major, told.compute_minor));
  fill_in(to.sms, told.multiprocessors);
  fill_in(to.memory_total_bytes, told.memory_bytes);
  if (told.clock_max_mhz > 0) fill_in(to.sm_clock_max_mhz, told.clock_max_mhz);
  fill_in(to.cuda_version, backend.driver_version());
  to.runtime_version = backend.runtime_version();
  fill_in_peers(to, gpu, backend.devices());
}

}  // namespace

void complete_facts(std::vector<GpuFacts>& gpus, GpuBackend* backend) {
  for (GpuFacts& facts : gpus) {
    facts.runtime_version = Maybe<std::string>::missing("the lab does not compute on this GPU");
    if (backend == nullptr) continue;
    for (const GpuDevice* gpu : backend->devices()) {
      if (gpu->facts().pci_bus_id == facts.pci_bus_id) complete(facts, *gpu, *backend);
    }
  }
}

DeviceInfo describe_gpu(const GpuProperties& facts, const GpuBackend& backend) {
  DeviceInfo info;
  info.device = facts.device;
  info.name = facts.name;
  info.pci_bus_id = facts.pci_bus_id;
  info.memory_total_bytes = facts.memory_bytes;
  info.memory_limit_bytes = facts.memory_bytes;
  if (facts.l2_bytes > 0) info.caches.push_back({2, facts.l2_bytes, 1, 128});
  info.clock_max_mhz = facts.clock_max_mhz > 0
                           ? Maybe<double>(facts.clock_max_mhz)
                           : Maybe<double>::missing("the CUDA runtime tells no clock of this GPU");
  auto& details = info.details;
  details.emplace_back("Compute capability",
                       fmt::format("{}.{}", facts.compute_major, facts.compute_minor));
  details.emplace_back("Multiprocessors", fmt::format("{}", facts.multiprocessors));
  details.emplace_back("Shared memory",
                       fmt::format("{} a block", format_bytes(facts.shared_bytes_per_block)));
  details.emplace_back("Copy engines", fmt::format("{}", facts.copy_engines));
  details.emplace_back("PCI address", facts.pci_bus_id);
  details.emplace_back("CUDA of the driver", backend.driver_version());
  details.emplace_back("CUDA of the lab", backend.runtime_version());
  if (!facts.memory_pools) {
    details.emplace_back("Memory pools", "none: each allocation waits for the GPU");
  }
  return info;
}

}  // namespace lab
