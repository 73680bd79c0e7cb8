#include "compute/device/card_info.h"

#include <fmt/format.h>

#include "compute/types/units.h"

namespace lab {

DeviceInfo describe_card(const CardFacts& facts, const GpuBackend& backend) {
  DeviceInfo info;
  info.device = facts.device;
  info.name = facts.name;
  info.pci_bus_id = facts.pci_bus_id;
  info.memory_total_bytes = facts.memory_bytes;
  info.memory_limit_bytes = facts.memory_bytes;
  if (facts.l2_bytes > 0) info.caches.push_back({2, facts.l2_bytes, 1, 128});
  info.clock_max_mhz = facts.clock_max_mhz > 0
                           ? Maybe<double>(facts.clock_max_mhz)
                           : Maybe<double>::missing("the CUDA runtime tells no clock of this card");
  auto& details = info.details;
  details.emplace_back("Compute capability",
                       fmt::format("{}.{}", facts.compute_major, facts.compute_minor));
  details.emplace_back("Multiprocessors", fmt::format("{}", facts.multiprocessors));
  details.emplace_back("Shared memory",
                       fmt::format("{} a block", format_bytes(facts.shared_bytes_per_block)));
  details.emplace_back("Copy engines", fmt::format("{}", facts.copy_engines));
  details.emplace_back("PCI address", facts.pci_bus_id);
  details.emplace_back("CUDA", fmt::format("{} by the driver, {} in this build",
                                           backend.driver_version(), backend.runtime_version()));
  if (!facts.memory_pools) {
    details.emplace_back("Memory pools", "none: each allocation waits for the card");
  }
  return info;
}

}  // namespace lab
