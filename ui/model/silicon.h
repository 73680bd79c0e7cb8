#pragma once
// The cores and caches of a whole machine, which its CPU devices divide among them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"

namespace lab::ui {

struct SiliconCore {
  Device device;
  std::size_t at = 0;                 // position in DeviceInfo::cores
  int number = 0;                     // as numbered by the operating system
  std::optional<CoreKind> kind = {};  // empty if all cores are alike
  std::vector<Device> others = {};    // further devices that have it
};
struct SiliconCache {
  int level = 0;
  std::int64_t bytes = 0;
  std::vector<int> cores;  // positions in Silicon::cores
};
struct SiliconPackage {
  int number = 0;
  std::string name;        // of the processor
  std::vector<int> cores;  // positions in Silicon::cores
};

// The cores of all CPU devices, each once, and the caches above them, which devices may share.
struct Silicon {
  std::vector<SiliconCore> cores;
  std::vector<SiliconCache> caches;
  std::vector<SiliconPackage> packages;                // ascending in number
  std::map<Device, std::vector<Device>> core_sharers;  // of each device that shares a core
};

Silicon silicon_of(std::span<const DeviceInfo> devices);

// The other devices that have a core which the device has, ascending. Refers to `silicon`.
std::span<const Device> core_sharers(const Silicon& silicon, Device device);
// The other devices that use a cache of this level which the device uses, ascending.
std::vector<Device> cache_sharers(const Silicon& silicon, Device device, int level);

}  // namespace lab::ui
